from residuum._cli import main

raise SystemExit(main())
