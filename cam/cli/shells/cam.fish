function __cam_complete
    set -l words (commandline -opc)
    set -l found (cam complete $words[2..-1] (commandline -ct) 2>/dev/null)
    if test (count $found) -gt 0 -a -n "$found[1]"
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c cam -f -a '(__cam_complete)'
