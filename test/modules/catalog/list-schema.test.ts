import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readPlace, writePlace } from '../../../src/modules/catalog/list-schema.ts'

const ID = '0190a0b0-0000-7000-8000-000000000001'

describe('a place in a list of products', () => {
  test('can be read back as it was written, and needs no escape in an address', () => {
    for (const at of [0, 1, 1_700_000_000_123_456, Number.MAX_SAFE_INTEGER]) {
      const text = writePlace({ at, id: ID })
      assert.equal(encodeURIComponent(text), text)
      assert.deepEqual(readPlace(text), { at, id: ID })
    }
  })

  test('is absent if its text is not valid', () => {
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const wrong = [
      5,
      null,
      {},
      [],
      [1],
      ['1', ID],
      [1.5, ID],
      [1, 'x'],
      [1, { id: ID }],
      [2 ** 60, ID],
    ]
    const texts = [undefined, '', 'x', '%', '=', 'a'.repeat(10_000), ...wrong.map(encode)]
    for (const text of texts) assert.equal(readPlace(text), null, text)
  })
})
