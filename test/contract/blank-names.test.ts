import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { openTestApp } from '../harness/app.ts'
import { share } from '../harness/scope.ts'
import { enable } from '../modules/checkout/setup.ts'
import { keyed } from '../modules/orders/setup.ts'

const shared = share(async (scope) => {
  const app = await openTestApp(scope)
  const merchant = await app.merchant('blank-names')
  await enable(merchant, 'affiliates', 'pricing_groups')
  return { app, merchant }
})

const id = randomUUID()

/** Writes of a merchant that name something for people to read, with the member that does. */
const WRITES: readonly [method: 'POST' | 'PATCH', path: string, member: string, body?: object][] = [
  ['PATCH', `/v1/merchant/orders/${id}`, 'name'],
  ['POST', `/v1/merchant/orders/${id}/preview`, 'name'],
  ['POST', '/v1/my/storefront-tokens', 'label'],
  ['POST', '/v1/merchant/marketing/segments', 'name', { match: 'all', conditions: [] }],
  ['PATCH', `/v1/merchant/marketing/segments/${id}`, 'name'],
  ['POST', '/v1/merchant/marketing/campaigns', 'name', { channel: 'email' }],
  ['PATCH', `/v1/merchant/marketing/campaigns/${id}`, 'name'],
  ['POST', '/v1/merchant/inventory/locations', 'name', { id: 'shed' }],
  ['PATCH', '/v1/merchant/inventory/locations/default', 'name'],
  ['POST', '/v1/merchant/purchasing/vendors', 'name'],
  ['POST', '/v1/merchant/pricing-groups', 'name'],
  ['PATCH', `/v1/merchant/pricing-groups/${id}`, 'name'],
  ['POST', '/v1/merchant/affiliates', 'name', { email: 'ann@shop.example' }],
  ['PATCH', `/v1/merchant/affiliates/${id}`, 'name'],
]

describe('a name', () => {
  test('is 400 where it is blank, invisible or of several lines, and changes nothing', async () => {
    const { merchant } = shared.current
    for (const [method, path, member, more] of WRITES) {
      for (const name of [' ', '\u00a0\t', '\u200b', 'one\ntwo']) {
        const answer = await merchant.send(method, path, { ...more, [member]: name }, keyed())
        const told = `${method} ${path}: ${answer.text}`
        assert.deepEqual([answer.status, answer.body.error.code], [400, 'invalid_body'], told)
        const paths = answer.body.issues.map((each: { path: string }) => each.path)
        assert.ok(paths.includes(member), told)
      }
    }
  })
})
