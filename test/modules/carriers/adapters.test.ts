import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { describe, test } from 'node:test'
import { ADAPTERS, adapterOf } from '../../../src/modules/carriers/adapters/all.ts'

const FOLDER = new URL('../../../src/modules/carriers/adapters/', import.meta.url)

describe('the list of carriers', () => {
  test('has every folder of an adapter once, and each provider once', () => {
    const entries = readdirSync(FOLDER, { withFileTypes: true })
    const folders = entries.filter((each) => each.isDirectory()).map(({ name }) => name)
    assert.deepEqual(ADAPTERS.map(({ name }) => name).sort(), folders.sort())
    assert.equal(new Set(ADAPTERS.map(({ provider }) => provider)).size, ADAPTERS.length)
    assert.throws(() => adapterOf('unheard-of'), /no carrier unheard-of/)
  })
})
