#compdef smoothpl
# TAB completion of smoothpl in zsh, written by: smoothpl completion zsh

_smoothpl() {
  local has_places
  local -a commands found
  commands=(
    # COMMANDS
  )
  if (( CURRENT == 2 )); then
    _describe command commands
  elif [[ $PREFIX == *=* ]]; then
    case ${PREFIX%%=*} in
    # VALUES
    esac
    compset -P '*='
    if (( $#found )); then
      compset -P '*,'  # the earlier values of a sweep: method=fixmatch,smooth
      compadd -a found
    else
      _files
    fi
  else
    case $words[2] in
    # WORDS
    esac
    case $words[2] in
    # PLACES
    esac
    compadd -S '' -- ${(M)found:#*=}
    compadd -- ${found:#*=}
    [[ -z $has_places ]] || _files
  fi
}

if [[ $funcstack[1] == _smoothpl ]]; then
  _smoothpl "$@"
else
  compdef _smoothpl smoothpl
fi
