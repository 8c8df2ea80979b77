#!/usr/bin/env node
// `fairdock <role> [options]` from any folder, once this one was linked with `npm link`.
process.argv.splice(2, 0, 'src/main.ts')
await import('./run.mjs')
