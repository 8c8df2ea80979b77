import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, type TestContext, test } from 'node:test'
import '../../src/compose/app.ts'
import { type ApiDocument, type Operation, resolveResponse } from '../../src/http/api-document.ts'
import { PAGE_QUERY } from '../../src/kernel/page.ts'
import { FIXTURES } from '../harness/all-resources.ts'
import { type Answer, type Caller, openTestApp, type TestApp } from '../harness/app.ts'
import { makeInvoices, makePlans } from '../modules/billing/resources.ts'
import { BOUNDED } from './bounded-answers.ts'
import { freshKey, VARIANT } from './ids.ts'
import { fillPath } from './paths.ts'

/** The document that is served; a check keeps it equal to the routes. */
const published: ApiDocument = JSON.parse(
  readFileSync(new URL('../../generated/openapi.json', import.meta.url), 'utf8'),
)

interface ListRoute {
  id: string
  path: string
  plane: string
  parameters: string[]
  answered: string[]
}

/** Every route whose success has the members of a page. A new one is tested without a change here. */
const LISTS: readonly ListRoute[] = Object.entries(published.paths).flatMap(([path, { get }]) => {
  if (get === undefined) return []
  const answered = answeredMembers(get)
  if (!['total', 'limit', 'offset'].every((member) => answered.includes(member))) return []
  const parameters = (get.parameters ?? []).map(({ name }) => name)
  return [{ id: get.operationId ?? '', path, plane: get['x-plane'] ?? '', parameters, answered }]
})

type Shape = NonNullable<ApiDocument['components']['schemas'][string]>

/** The shape that a reference names, or the shape itself. */
function resolveShape(shape: Shape): Shape {
  const name = typeof shape.$ref === 'string' ? shape.$ref.split('/').at(-1) : undefined
  return name === undefined ? shape : (published.components.schemas[name] ?? {})
}

function answeredShape({ responses }: Operation): Shape {
  const success = responses[200] && resolveResponse(published, responses[200])
  return resolveShape((success?.content?.['application/json']?.schema ?? {}) as Shape)
}

function answeredMembers(operation: Operation): string[] {
  return Object.keys(answeredShape(operation).properties ?? {})
}

/** The shapes that a value may have: one of several, or null. */
const alternativesOf = (shape: Shape): Shape[] => {
  const { anyOf } = resolveShape(shape) as { anyOf?: Shape[] }
  return anyOf === undefined ? [resolveShape(shape)] : anyOf.flatMap(alternativesOf)
}

const isRows = (shape: Shape): boolean =>
  alternativesOf(shape).some(
    ({ type, items }) =>
      type === 'array' &&
      alternativesOf((items ?? {}) as Shape).some((item) => item.type !== 'string' && !item.enum),
  )

/** Every read that answers rows: as a member, or as its whole body. */
const ANSWERING_ROWS: readonly string[] = Object.values(published.paths).flatMap(({ get }) => {
  if (get === undefined) return []
  const shape = answeredShape(get)
  const hasRows = [shape, ...Object.values(shape.properties ?? {})].some((of) =>
    isRows(of as Shape),
  )
  return hasRows ? [get.operationId ?? ''] : []
})

/** Lists that no fixture fills cheaply, and why. */
const WITHOUT_ROWS: Readonly<Record<string, string>> = {
  listAssets: 'The contract has few images, and equal ones are one asset.',
  listFraudReviews: 'Only the fraud check holds an order for review.',
  listGiftCardTransactions: 'A new card has one.',
  listInventoryDiscrepancies: 'Only the nightly recount finds them.',
  listPaymentDiscrepancies: 'Only the nightly comparison finds them.',
  listRedemptions: 'Each needs a checkout with the coupon.',
  listStoreCreditTransactions: 'A new account has one.',
  listAllUnsettledPayments: 'Each needs a gateway that gives no answer.',
  listUnsettledPayments: 'Each needs a gateway that gives no answer.',
}

/** Lists whose query names the customer. */
const OF_A_CUSTOMER: Readonly<Record<string, string>> = {
  '/v1/tenants/{tenant}/subscriptions': 'a%20canary',
  '/v1/tenants/{tenant}/subscriptions/{id}/cycles': 'a%20canary',
}

const toUrl = (path: string) => path.replaceAll(/\{(\w+)\}/g, ':$1')

/** Three rows or more for every list, and the names that the paths of the lists contain. */
async function openLists(t: TestContext) {
  const app = await openTestApp(t, { env: { CHECKOUT_VELOCITY_PER_MINUTE: '100000' } })
  const merchant = await app.merchant('acme')
  const names = await plantRows(app, merchant)
  const callers: Record<string, Caller> = {
    merchant,
    operator: app.operator,
    storefront: app.storefront,
  }
  const read = ({ path, plane }: ListRoute, query: string): Promise<Answer> => {
    const caller = callers[plane]
    assert.ok(caller, path)
    const whose = path in OF_A_CUSTOMER ? `&customer_ref=${OF_A_CUSTOMER[path]}` : ''
    return caller.get(
      `${fillPath(toUrl(path), names[path] ?? { tenant: 'acme' })}?${query}${whose}`,
    )
  }
  return { read }
}

type Names = Record<string, Record<string, string>>

const ROWS = [1, 2, 3]

async function plantRows(app: TestApp, merchant: Caller): Promise<Names> {
  const send = async (method: string, url: string, body: unknown) => {
    const answer = await merchant.send(method, url, body, freshKey())
    assert.ok(answer.status < 300, `${method} ${url}: ${answer.text}`)
  }
  const made = new Map<string, Record<string, string>>()
  const make = async (route: string) => {
    let last = made.get(route) ?? {}
    if (!made.has(route))
      for (const _ of ROWS) last = (await FIXTURES[route]?.(merchant, app)) ?? {}
    made.set(route, last)
    return last
  }
  const endpoint = { url: 'https://x.example/', events: ['commerce.order.placed.v1'] }
  await send('POST', '/v1/merchant/webhooks', endpoint)
  for (const route of [...listReads(), ...MAKING_ROWS]) await make(route)
  await make('GET /v1/merchant/customers/:customer_ref')
  const coupon = await make('GET /v1/merchant/marketing/coupons/:id')
  await send('POST', `/v1/merchant/marketing/coupons/${coupon.id}/codes`, { count: ROWS.length })
  await make('POST /v1/merchant/marketing/subscribers/:id/unsubscribe')
  const campaign = await make('GET /v1/merchant/marketing/campaigns/:id/recipients')
  await plantReminders(app)
  const card = await make('GET /v1/merchant/gift-cards/:id')
  const credited = await make('GET /v1/merchant/store-credit/:customer_ref')
  const group = await make('GET /v1/merchant/pricing-groups/:id')
  const order = await make('GET /v1/merchant/orders/:id')
  const variant = await make('GET /v1/merchant/inventory/:variant_id')
  for (const n of ROWS) {
    const groupUrl = `/v1/merchant/pricing-groups/${group.id}`
    await send('POST', `${groupUrl}/members`, { customer_ref: `customer ${n}` })
    const price = { variant_id: VARIANT, price_cents: n, min_quantity: n }
    await send('PUT', `${groupUrl}/prices`, price)
    const stock = { delta: n, reason: 'received' }
    await send('POST', `/v1/merchant/inventory/${variant.variant_id}/adjust`, stock)
    const request = await FIXTURES['GET /v1/merchant/entitlements/requests/:id']?.(merchant, app)
    await send('POST', `/v1/merchant/entitlements/requests/${request?.id}/withdraw`, {})
    const draft = await FIXTURES[ACTIVATION]?.(merchant, app)
    await send('POST', fillPath(ACTIVATION.split(' ')[1] ?? '', draft), {})
    const left = { email: `reader-${n}@example.com` }
    await send('POST', '/v1/merchant/marketing/consents/withdraw', left)
    await send('PUT', '/v1/my/site/draft', { manifest: {} })
    await send('POST', '/v1/my/credentials', { label: `Key ${n}`, scopes: ['read:own_store'] })
    await send('POST', `/v1/merchant/orders/${order.id}/notes`, { note: `Note ${n}` })
    await app.store(`store-${n}`)
  }
  await plantGlobalSuppressions(app)
  await plantGatewayEvents(app)
  await plantClockRuns(app)
  await makeInvoices(app)
  await makePlans(app)
  const purchase = await receiveInParts(app, merchant)
  const subscription = await make('GET /v1/merchant/subscriptions/:id/cycles')
  return {
    '/v1/merchant/subscriptions/{id}/cycles': subscription,
    '/v1/tenants/{tenant}/subscriptions/{id}/cycles': { tenant: 'acme', ...subscription },
    '/v1/merchant/inventory/{variant_id}/costs': { variant_id: purchase.variant_id },
    '/v1/merchant/purchasing/orders/{id}/receipts': { id: purchase.id },
    '/v1/merchant/gift-cards/{id}/transactions': card,
    '/v1/merchant/orders/{id}/timeline': order,
    '/v1/merchant/marketing/campaigns/{id}/recipients': campaign,
    '/v1/merchant/marketing/coupons/{id}/codes': coupon,
    '/v1/merchant/marketing/coupons/{id}/redemptions': coupon,
    '/v1/merchant/pricing-groups/{id}/members': group,
    '/v1/merchant/pricing-groups/{id}/prices': group,
    '/v1/merchant/store-credit/{customer_ref}/transactions': credited,
    '/v1/tenants/{tenant}/customers/{customer_ref}/orders': {
      tenant: 'acme',
      customer_ref: 'a canary',
    },
  }
}

/** A purchase order that came unit by unit. */
async function receiveInParts(app: TestApp, merchant: Caller) {
  const made = await FIXTURES['GET /v1/merchant/purchasing/orders/:id']?.(merchant, app)
  const url = `/v1/merchant/purchasing/orders/${made?.id}`
  const { body } = await merchant.post(`${url}/order`)
  const [line] = body.purchase_order.lines
  for (const quantity of ROWS) {
    const lines = [{ line_id: line.id, quantity }]
    const received = await merchant.post(`${url}/receive`, { lines }, freshKey())
    assert.equal(received.status, 200, received.text)
  }
  return { id: body.purchase_order.id as string, variant_id: line.variant_id as string }
}

const ACTIVATION = 'POST /v1/merchant/catalog/products/:id/activation-request'

/** The reads of one row of each list: their fixtures make it. */
const listReads = (): string[] =>
  LISTS.map(({ path }) => `GET ${toUrl(path)}/:id`).filter((route) => route in FIXTURES)

/** Fixtures that make the rows of lists whose rows are not read one by one. */
const MAKING_ROWS = [
  'DELETE /v1/my/storefront-tokens/:id',
  'POST /v1/merchant/mails/:id/resend',
  'POST /v1/merchant/marketing/suppressions/:id/lift',
]

const plantGatewayEvents = async (app: TestApp) =>
  (await app.database.openAdmin()).query(`
    insert into gateway_accounts (tenant_ref, provider, account_ref, scheme, signing_key)
    select 'acme', 'nmi', 'account-' || n, 'nmi', '\\x00' from generate_series(1, 3) n;
    insert into gateway_events (tenant_ref, provider, account_ref, event_id, scheme, headers)
    select tenant_ref, provider, account_ref, 'an event', scheme, '{}' from gateway_accounts`)

const plantGlobalSuppressions = async (app: TestApp) =>
  (await app.database.openAdmin()).query(`
    insert into global_mail_suppressions (email_hash, domain, reason)
    select sha256(n::text::bytea), 'example.com', 'hard_bounce' from generate_series(1, 3) n`)

const plantReminders = async (app: TestApp) =>
  (await app.database.openAdmin()).query(`
    insert into checkout_reminders (tenant_ref, email, email_folded, items, next_attempt_at)
    select 'acme', n || '@x.example', n || '@x.example', '[]', now() from generate_series(1, 3) n`)

const plantClockRuns = async (app: TestApp) =>
  (await app.database.openAdmin()).query(`
    insert into test_clocks (tenant_ref, move) values ('acme', 1);
    insert into test_clock_runs (tenant_ref, move, place, at, kind, outcome)
    select 'acme', 1, n, now(), 'parcel_delivery', 'delivered' from generate_series(1, 3) n`)

const rowsOf = (body: Record<string, unknown>) =>
  Object.values(body).find((member) => Array.isArray(member)) as unknown[]

/** No JSON, and what a cursor of no list has: no column, a number, a null. */
const UNREADABLE = [
  'nonsense',
  ...['[]', '[1]', '[null]', '{}'].map((json) => Buffer.from(json).toString('base64url')),
]

/** Values that the contract clamps, and the `limit` and `offset` that an answer then names. */
const CLAMPED: readonly [query: string, limit: number | null, offset: number][] = [
  ['limit=0&offset=-5', 1, 0],
  ['limit=-1&offset=x', 1, 0],
  ['limit=1.9&offset=1.9', 1, 1],
  ['limit=1e99&offset=', null, 0],
  ['limit=&offset=1e99', null, Number.MAX_SAFE_INTEGER],
  ['limit=1&limit=x&offset=1&offset=x', 1, 1],
]

/** More would cost time and show no more. */
const COMPARED_MAX = 3

test('every read that answers rows is a list, or has a bound that is written down', () => {
  const lists = LISTS.map(({ id }) => id)
  assert.ok(ANSWERING_ROWS.length > lists.length)
  const isKnown = (id: string) => lists.includes(id) !== id in BOUNDED
  const others = ANSWERING_ROWS.filter((id) => !isKnown(id))
  assert.deepEqual(others, [], 'needs readList(), or a line in bounded-answers.ts')
  const gone = Object.keys(BOUNDED).filter((id) => !ANSWERING_ROWS.includes(id))
  assert.deepEqual(gone, [], 'bounds of reads that are gone')
})

describe('every list', () => {
  test('takes and gives a cursor', () => {
    assert.ok(LISTS.length > 30)
    const known = LISTS.map(({ id }) => id)
    const gone = Object.keys(WITHOUT_ROWS).filter((id) => !known.includes(id))
    assert.deepEqual(gone, [], 'exceptions of lists that are gone')
    for (const { id, parameters, answered } of LISTS) {
      assert.ok(
        Object.keys(PAGE_QUERY).every((name) => parameters.includes(name)),
        `${id} takes ${parameters}`,
      )
      assert.ok(answered.includes('next_after') && answered.includes('total_is_estimate'), id)
    }
  })

  test('clamps the page size, refuses an unreadable cursor, and has the same pages by cursor as by offset', async (t) => {
    const { read } = await openLists(t)
    for (const list of LISTS) {
      const { id } = list
      for (const after of UNREADABLE) {
        const refused = await read(list, `after=${after}`)
        const { status, body } = refused
        assert.deepEqual(
          [status, body.error?.code],
          [400, 'invalid_query'],
          `${id}: ${refused.text}`,
        )
      }
      for (const [query, limit, offset] of CLAMPED) {
        const { status, body, text } = await read(list, query)
        assert.equal(status, 200, `${id}?${query}: ${text}`)
        assert.deepEqual([body.limit, body.offset], [limit ?? body.limit, offset], `${id}?${query}`)
      }
      const byOffset: unknown[] = []
      const byCursor: unknown[] = []
      let [offset, after, total] = [0, '', 1]
      while (offset < Math.min(total, COMPARED_MAX)) {
        const page = await read(list, `limit=1&offset=${offset}`)
        assert.equal(page.status, 200, `${id}: ${page.text}`)
        total = page.body.total
        byOffset.push(...rowsOf(page.body))
        const following = await read(list, `limit=1&after=${after}`)
        byCursor.push(...rowsOf(following.body))
        assert.equal(following.body.total, total, id)
        after = following.body.next_after ?? ''
        offset++
        assert.equal(after === '', offset >= total, `${id}: a cursor on every page but the last`)
      }
      assert.deepEqual(byCursor, byOffset, id)
      assert.ok(total >= ROWS.length || id in WITHOUT_ROWS, `${id} needs rows to be compared`)
    }
  })
})
