import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Table } from '@fairdock/messages'
import { writePlaceholders } from '@fairdock/messages/placeholders'
import { writeOrCheck } from './compare.ts'
import { listTextFolders } from './text-folders.ts'

/** Writes the types of placeholders beside the English file of each surface. `--check` only compares. */

for (const folder of listTextFolders()) {
  const english: Table = JSON.parse(await readFile(join(folder, 'en.json'), 'utf8'))
  const text = writePlaceholders(english, 'npm run texts')
  await writeOrCheck(join(folder, 'placeholders.ts'), text, process.argv)
}
