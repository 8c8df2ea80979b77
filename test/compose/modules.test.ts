import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { test } from 'node:test'
import { MODULES } from '../../src/compose/modules.ts'

const FOLDER = new URL('../../src/modules/', import.meta.url)

test('the list of modules names every folder of src/modules once, and nothing else', async () => {
  const entries = await readdir(FOLDER, { withFileTypes: true })
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  assert.deepEqual(MODULES.map(({ name }) => name).sort(), folders.sort())
})

test('each module of the list is the one that its own folder exports, and nothing beside it', async () => {
  for (const face of MODULES) {
    const exported = await import(new URL(`${face.name}/module.ts`, FOLDER).href)
    assert.deepEqual(Object.values(exported), [face], face.name)
  }
})
