# completions of orchard
function __fish_orchard_trees
    orchard list --names
end
complete -c orchard -f
complete -c other -s z -l zeta
complete -c orchard -n __fish_use_subcommand -a graft -d 'Graft a twig'
complete -c orchard -n "__fish_use_subcommand" -a "list" -d "List the orchard's trees"
complete -c orchard -n '__fish_orchard_needs_command' -a prune -d 'Deprecated: use trim'
complete -c orchard -s v -l verbose -d 'Say more'
complete -c orchard -n '__fish_seen_subcommand_from graft list' -l file -s f -r -d 'Inventory to read'
complete -c orchard -n '__fish_seen_subcommand_from list; and not __fish_seen_subcommand_from tree twig' -l output -x \
    -a 'json yaml table' -d 'Output format'
complete -c orchard -n '__fish_seen_subcommand_from list' -o wide -d 'Wide lines'
complete -c orchard -n '__fish_seen_subcommand_from list' -l tree -x -a '(__fish_orchard_trees)' -d 'Tree to show'
complete -c orchard -n "__fish_orchard_using_subcommand list; and __fish_seen_subcommand_from help" -l paint -r -f -a "red\t'Bright red'
blue\t''"
complete --command=orchard --condition='__fish_seen_subcommand_from graft' --long-option=angle --require-parameter --description='An angle [default: 5]'
