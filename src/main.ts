#!/usr/bin/env node
process.stdout.write('carbon-mirror\n');
