import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { writeResource } from '../../scripts/new-resource.ts'

/** The torture drill `new-resource` runs the checks on such a tree. */
test('a new resource is files that can be read, and entries in the lists by hand', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'new-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  for (const path of ['migrations', 'src/compose', 'src/modules/purchasing']) {
    cpSync(path, join(root, path), { recursive: true })
  }
  const written = [
    ...writeResource(root, { name: 'size-chart', area: 'goods' }),
    ...writeResource(root, { name: 'delivery-note', module: 'purchasing' }),
  ]
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  for (const path of written) {
    const text = read(path)
    assert.doesNotMatch(text, /\{\{/, path)
    if (path.endsWith('.ts')) stripTypeScriptTypes(text)
  }
  assert.match(read('src/compose/modules.ts'), /modules: \[.*, sizeCharts\]/)
  const face = read('src/modules/purchasing/module.ts')
  assert.match(face, /delivery_notes: forGood\(STORE\)/)
  assert.match(face, /delivery_notes: 'Delivery notes, /)
  assert.match(face, /delivery-note-routes\.ts/)
  assert.match(read('src/modules/purchasing/errors.ts'), /delivery_note_not_found/)

  for (const wanted of [
    { name: 'Size chart', area: 'goods' },
    { name: 'size-chart', area: 'goods' },
    { name: 'hat', area: 'nowhere' },
    { name: 'hat', module: 'hats' },
  ]) {
    assert.throws(() => writeResource(root, wanted), Error, JSON.stringify(wanted))
  }
})
