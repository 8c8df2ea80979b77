import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Type } from 'typebox'
import { withoutUnknown } from '../../src/http/known-members.ts'
import { Nullable, OpenObject, ref } from '../../src/kernel/schema.ts'
import { Plan } from '../../src/modules/billing/plan-schema.ts'
import { openTestApp } from '../harness/app.ts'
import { openBareServer } from '../harness/bare-server.ts'
import { APPROVED, checkout, openShop } from '../modules/checkout/setup.ts'
import { keyed } from '../modules/orders/setup.ts'

const Inner = Type.Object({ a: Type.Optional(Type.Integer()) })

describe('the members that a route does not know', () => {
  const Body = Type.Object({
    list: Type.Optional(Type.Array(Inner)),
    maybe: Type.Optional(Nullable(Inner)),
    named: Type.Optional(ref(Plan)),
    perhaps: Type.Optional(Nullable(ref(Plan))),
    open: Type.Optional(OpenObject),
    half: Type.Optional(Type.Object({ inner: Inner }, { additionalProperties: true })),
    words: Type.Optional(Type.Record(Type.String(), Type.String())),
    either: Type.Optional(Type.Unsafe<unknown>({ anyOf: [Inner, Plan] })),
  })
  const x = { status: 'paid' }
  const known = {
    list: [{ a: 1 }, {}],
    maybe: { a: 1 },
    named: { meters: { orders: { included: 1 } } },
    perhaps: { meters: {} },
    open: { any: [x] },
    half: { inner: {}, more: x },
    words: { one: 'word' },
    either: { z: 1 },
  }

  test('are removed at every depth, and nothing else is', () => {
    const sent = {
      ...known,
      ...x,
      list: [{ a: 1, ...x }, x],
      maybe: { a: 1, ...x },
      named: { meters: { orders: { included: 1, ...x }, ...x }, ...x },
      perhaps: { meters: x },
      half: { inner: x, more: x },
    }
    assert.deepEqual(withoutUnknown(Body as never, sent), known)
  })

  test('are removed without a change to a body that has none', () => {
    assert.equal(withoutUnknown(Body as never, known), known)
    for (const value of [null, 1, 'text', [x], { maybe: null, list: [] }]) {
      assert.equal(withoutUnknown(Body as never, value), value)
    }
    const odd = { toString: 1, constructor: 2, hasOwnProperty: 3 }
    assert.deepEqual(withoutUnknown(Body as never, odd), {}, 'names that every object has')
  })

  test('reach no handler, and a PATCH names them nevertheless', async (t) => {
    const { url } = await openBareServer(t, async (app) => {
      const options = { schema: { body: Body, response: { 200: OpenObject } } }
      app.post('/echo', options, async ({ body }) => body)
      const answer = Type.Object({ got: OpenObject })
      app.patch(
        '/echo',
        { schema: { body: Body, response: { 200: answer } } },
        async ({ body }) => ({
          got: body as Record<string, unknown>,
        }),
      )
    })
    const send = async (method: string) => {
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ list: [{ a: 1, id: 2 }], id: 'x' })
      return (await fetch(`${url}/echo`, { method, headers, body })).json()
    }
    assert.deepEqual(await send('POST'), { list: [{ a: 1 }] })
    assert.deepEqual(await send('PATCH'), {
      got: { list: [{ a: 1 }] },
      ignored: ['list.0.id', 'id'],
    })
  })

  test('make a request with the same key a different request', async (t) => {
    const app = await openTestApp(t)
    const shop = await openShop(app, 'acme', [1_000])
    const items = [{ variant_id: shop.variants[1_000], quantity: 1 }]
    const sent = { customer_ref: 'ann', items, card: APPROVED }
    const key = keyed()['idempotency-key']
    assert.equal((await checkout(app, shop, sent, key)).status, 201)
    assert.equal((await checkout(app, shop, sent, key)).status, 201)
    assert.equal((await checkout(app, shop, { ...sent, note: 'x' }, key)).status, 422)
  })
})
