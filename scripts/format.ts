import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Formats every file, and fixes the faults that the linter can fix by itself. */
const root = fileURLToPath(new URL('..', import.meta.url))
const biome = `${root}node_modules/.bin/biome`
const { status } = spawnSync(biome, ['check', '--write', '.'], { cwd: root, stdio: 'inherit' })
process.exitCode = status ?? 1
