import { fileURLToPath } from 'node:url'
import { AREAS } from '../src/compose/modules.ts'
import { writeOrCheckPart } from './compare.ts'

/** Writes the map of modules into ARCHITECTURE.md, from their faces. `--check` only compares. */

const rows = AREAS.flatMap(({ name, is, modules }) => [
  `| **${name}** | **${is}** |`,
  ...modules.map((face) => `| [\`${face.name}\`](src/modules/${face.name}) | ${face.is} |`),
])

const map = `| Module | What it is |
|---|---|
${rows.join('\n')}`

const path = fileURLToPath(new URL('../ARCHITECTURE.md', import.meta.url))
await writeOrCheckPart(path, 'map', map, process.argv.slice(2))
