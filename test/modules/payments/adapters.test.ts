import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { describe, test } from 'node:test'
import { oneSecret } from '../../../src/modules/payments/adapters/adapter.ts'
import { ADAPTERS, adapterOf } from '../../../src/modules/payments/adapters/all.ts'
import { requireCredentials } from '../../../src/modules/payments/service.ts'

const FOLDER = new URL('../../../src/modules/payments/adapters/', import.meta.url)

const secret = {
  pattern: '.*',
  expected: 'must be a text',
  minLength: 1,
  maxLength: 100,
  description: 'A secret.',
}

describe('the list of gateways', () => {
  test('has every adapter folder once, and a gateway that moves no money for sandboxes', () => {
    const folders = readdirSync(FOLDER, { withFileTypes: true }).filter((each) =>
      each.isDirectory(),
    )
    const names = ADAPTERS.map(({ name }) => name)
    assert.deepEqual([...names].sort(), folders.map(({ name }) => name).sort())
    assert.deepEqual(
      ADAPTERS.filter(({ movesMoney }) => !movesMoney).map(({ name }) => name),
      ['simulated'],
    )
    assert.throws(() => adapterOf('unheard-of'), /no gateway unheard-of/)
  })

  for (const { name, meanings } of ADAPTERS) {
    test(`gives each code of ${name} one meaning, with its source and the date on which that was read`, () => {
      const codes = meanings.flatMap((row) => row.codes)
      assert.equal(new Set(codes).size, codes.length)
      for (const { source, asOf } of meanings) {
        assert.ok(source.length > 0)
        assert.match(asOf, /^20\d\d-\d\d$/)
      }
    })
  }

  for (const { name, credentials: shape } of ADAPTERS) {
    if (shape === null) continue
    test(`stores the credentials of ${name} as a text and reads them again`, () => {
      const credentials = Object.fromEntries(
        Object.keys(shape.members).map((member) => [member, `the ${member} of a store`]),
      )
      assert.deepEqual(shape.fromText(shape.toText(credentials)), credentials)
      assert.ok(Object.values(credentials).includes(shape.hinted(credentials)))
    })
  }

  test('passes a gateway its own credentials alone', () => {
    const bank = { name: 'bank', credentials: oneSecret('secret_key', secret) }
    requireCredentials(bank, { secret_key: 'a secret' })
    const issues = (of: Parameters<typeof requireCredentials>[0]) => {
      try {
        requireCredentials(of, { security_key: 'a secret' })
      } catch (error) {
        return JSON.stringify(error)
      }
    }
    assert.match(issues(bank) ?? '', /must have secret_key for the gateway bank/)
    assert.match(
      issues(adapterOf('simulated')) ?? '',
      /must not be sent: the simulated gateway has no credentials/,
    )
  })
})
