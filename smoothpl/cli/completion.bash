# TAB completion of smoothpl in bash, written by: smoothpl completion bash

_smoothpl_words() {
  case $1 in
    # WORDS
  esac
}

_smoothpl_values() {
  case $1 in
    # VALUES
  esac
}

_smoothpl() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} key= typed= has_places= place
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "
    # COMMANDS
    " -- "$word"))
    return
  fi
  # method=smooth is three words for bash, unless = was taken out of COMP_WORDBREAKS.
  if [[ $word == "=" ]]; then
    key=$before word=
  elif [[ $before == "=" ]]; then
    key=${COMP_WORDS[COMP_CWORD-2]}
  elif [[ $word == *=* ]]; then
    key=${word%%=*} word=${word#*=} typed=$key=
  fi
  if [[ $key ]]; then
    typed+=${word%"${word##*,}"}  # the earlier values of a sweep: method=fixmatch,smooth
    COMPREPLY=($(compgen -P "$typed" -W "$(_smoothpl_values "$key")" -- "${word##*,}"))
    return  # without a reply bash completes file names
  fi
  COMPREPLY=($(compgen -W "$(_smoothpl_words "${COMP_WORDS[1]}")" -- "$word"))
  [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2> /dev/null
  case ${COMP_WORDS[1]} in
    # PLACES
  esac
  if [[ $has_places ]]; then
    while IFS= read -r place; do
      COMPREPLY+=("$place")
      compopt -o filenames 2> /dev/null
    done < <(compgen -f -- "$word")
  fi
}

complete -o default -F _smoothpl smoothpl
