# TAB completion of smoothpl in fish, written by: smoothpl completion fish

function __smoothpl_words
    switch $argv[1]
    # WORDS
    end
end

function __smoothpl_values
    switch $argv[1]
    # VALUES
    end
end

function __smoothpl_candidates
    set -l word (commandline -ct)
    if string match -q -- '*=*' $word
        set -l parts (string split -m 1 = -- $word)
        set -l typed (string match -r '^.*,' -- $parts[2]) # the earlier values of a sweep: method=fixmatch,smooth
        for value in (__smoothpl_values $parts[1])
            echo "$parts[1]=$typed$value"
        end
    else
        __smoothpl_words (commandline -opc)[2]
    end
end

function __smoothpl_takes_files
    if string match -q -- '*=*' (commandline -ct)
        test (count (__smoothpl_candidates)) -eq 0
        return
    end
    switch (commandline -opc)[2]
    # PLACES
    end
    return 1
end

complete -c smoothpl -n 'not __smoothpl_takes_files' -f
complete -c smoothpl -n 'not __fish_use_subcommand' -a '(__smoothpl_candidates)'
    # COMMANDS
