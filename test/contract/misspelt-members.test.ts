import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import type { ApiDocument, Shape } from '../../src/http/api-document.ts'
import { type Caller, openTestApp } from '../harness/app.ts'
import { share } from '../harness/scope.ts'
import { openSuperuser, putLive } from '../harness/superuser.ts'
import { enable } from '../modules/checkout/setup.ts'
import { freshKey } from './ids.ts'
import { fillPath } from './paths.ts'

/** Generated from the document that is served: a new write is tested here without a change of this file. */
const published: ApiDocument = JSON.parse(
  readFileSync(new URL('../../generated/openapi.json', import.meta.url), 'utf8'),
)

interface Write {
  method: string
  path: string
  plane: string
  /** The members of the body. */
  known: string[]
}

function resolve(shape: Shape): Shape {
  const name = typeof shape.$ref === 'string' ? shape.$ref.split('/').at(-1) : undefined
  return name === undefined ? shape : resolve(published.components.schemas[name] ?? {})
}

const WRITES: readonly Write[] = Object.entries(published.paths).flatMap(([path, item]) =>
  Object.entries(item).flatMap(([method, { 'x-plane': plane = '', requestBody }]) => {
    if (!['merchant', 'operator'].includes(plane)) return []
    if (!['post', 'put', 'patch'].includes(method)) return []
    const shape = resolve((requestBody?.content['application/json']?.schema ?? {}) as Shape)
    return [{ method, path, plane, known: Object.keys(shape.properties ?? {}) }]
  }),
)

/** A name that is one letter away from a known one, and from no other; null where all are too short. */
function misspell(known: readonly string[]): { sent: string; meant: string } | null {
  const meant = known.find((name) => name.length > 3)
  if (meant === undefined) return null
  return { sent: `${meant.slice(0, 2)}${meant.slice(1)}`, meant }
}

const toUrl = (path: string) => path.replaceAll(/\{(\w+)\}/g, ':$1')

describe('every write of merchants and operators', () => {
  const shared = share(async (scope) => {
    const app = await openTestApp(scope)
    const callers: Record<string, Caller> = {
      merchant: await app.merchant('acme'),
      operator: app.operator,
    }
    await putLive(await openSuperuser(scope, app.database), 'acme')
    return { app, callers }
  })

  test('refuses a misspelt member, and suggests the right name', async () => {
    const { callers } = shared.current
    let refused = 0
    for (const { method, path, plane, known } of WRITES) {
      const name = misspell(known)
      if (name === null) continue
      const url = fillPath(toUrl(path), { tenant: 'acme' })
      const body = { [name.sent]: 'x' }
      const answer = await callers[plane]?.send(method.toUpperCase(), url, body, freshKey())
      const what = `${method} ${path}: ${answer?.text.slice(0, 500)}`
      assert.deepEqual([answer?.status, answer?.body.error?.code], [400, 'invalid_body'], what)
      const issue = answer?.body.issues.find(({ path: at }: { path: string }) => at === name.sent)
      assert.match(issue?.message ?? '', new RegExp(`\\b${name.meant}\\b`), what)
      refused += 1
    }
    assert.ok(refused > 100, `${refused}`)
  })

  test('documents how it answers unknown members', () => {
    for (const { method, path } of WRITES) {
      const { responses } = published.paths[path]?.[method as 'post'] ?? { responses: {} }
      for (const [status, response] of Object.entries(responses)) {
        if (!status.startsWith('2')) continue
        const { content } = response as { content?: Record<string, { schema: Shape }> }
        const shape = resolve(content?.['application/json']?.schema ?? {})
        assert.ok(Object.hasOwn(shape.properties ?? {}, 'ignored'), `${method} ${path} ${status}`)
      }
    }
  })
})

describe('the members that a write does not know', () => {
  test('are named at every depth, with their paths, and change nothing', async (t) => {
    const app = await openTestApp(t)
    const merchant = await app.merchant('acme')
    const made = await merchant.post('/v1/merchant/catalog/products', {
      slug: 'cup',
      name: 'Cup',
      colour: 'blue',
      metadata: { anything: 1, nmae: 2 },
    })
    assert.deepEqual([made.status, made.body.ignored], [201, ['colour']], made.text)
    assert.deepEqual(
      made.body.product.metadata,
      { anything: 1, nmae: 2 },
      'any member is free there',
    )
    const url = `/v1/merchant/catalog/products/${made.body.product.id}`
    const [action, plain] = [
      await merchant.post(`${url}/archive`, { why: 'x' }),
      await merchant.post(`${url}/archive`),
    ]
    assert.deepEqual([action.body.ignored, plain.body.ignored], [['why'], undefined])
    const { body } = await merchant.post('/v1/merchant/catalog/products', { slug: 'b', name: 'B' })
    assert.equal(body.ignored, undefined, 'none were ignored')
  })

  test('are refused in a list, each with its position, also beside other faults', async (t) => {
    const app = await openTestApp(t)
    const merchant = await app.merchant('acme')
    const answer = await merchant.post('/v1/merchant/marketing/segments', {
      name: 'Buyers',
      match: 'all',
      conditions: [
        { field: 'orders_count', op: 'gte', value: 1, feild: 'x' },
        { feild: 'orders_count', op: 'gte', value: 1 },
      ],
    })
    assert.equal(answer.status, 400)
    const paths = answer.body.issues.map(({ path }: { path: string }) => path)
    assert.ok(paths.includes('conditions.1.feild'), answer.text)
  })

  test('are named again by each replay of an operation, in the same bytes', async (t) => {
    const app = await openTestApp(t)
    const merchant = await app.merchant('acme')
    await enable(merchant, 'gift_cards')
    const body = { initial_balance_cents: 500, colour: 'red' }
    const key = freshKey()
    const first = await merchant.post('/v1/merchant/gift-cards', body, key)
    const again = await merchant.post('/v1/merchant/gift-cards', body, key)
    assert.deepEqual([first.status, first.body.ignored], [201, ['colour']], first.text)
    assert.equal(again.headers['idempotent-replayed'], 'true')
    assert.equal(again.text, first.text)
  })

  test('unknown members of a storefront request are ignored without a warning', async (t) => {
    const app = await openTestApp(t)
    await app.store('acme')
    await putLive(await openSuperuser(t, app.database), 'acme')
    const events = [{ type: 'view', prduct_id: 'x' }]
    const answer = await app.storefront.post('/v1/tenants/acme/funnel', {
      events,
      utm: 'x',
      evnts: 1,
    })
    assert.ok(answer.status < 300, answer.text)
    assert.ok(!answer.text.includes('ignored'))
  })
})
