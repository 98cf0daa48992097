from diffusearch.cli import main

main()
