import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import type { ApiDocument } from '../../src/http/api-document.ts'
import { type Answer, type Caller, openTestApp } from '../harness/app.ts'
import { share } from '../harness/scope.ts'
import { openSuperuser, putLive } from '../harness/superuser.ts'
import { fillPath } from './paths.ts'

/** Generated from the document that is served: a new list is tested here without a change of this file. */
const published: ApiDocument = JSON.parse(
  readFileSync(new URL('../../generated/openapi.json', import.meta.url), 'utf8'),
)

interface Parameter {
  name: string
  schema: { type?: string; enum?: string[]; format?: string; pattern?: string; minimum?: number }
}

interface List {
  path: string
  plane: string
  known: Parameter[]
}

/** Every read of the two planes that has parameters, or answers rows. */
const LISTS: readonly List[] = Object.entries(published.paths).flatMap(([path, { get }]) => {
  const plane = get?.['x-plane'] ?? ''
  if (get === undefined || !['merchant', 'operator'].includes(plane)) return []
  const parameters = (get.parameters ?? []) as (Parameter & { in: string })[]
  const known = parameters.filter((each) => each.in === 'query')
  const text = JSON.stringify(get.responses[400] ?? {})
  const refused = text.includes('$ref') ? JSON.stringify(resolveFailure(text)) : text
  if (known.length === 0 && !refused.includes('validation_error')) return []
  return [{ path, plane, known }]
})

function resolveFailure(text: string): unknown {
  const name = /responses\/([^"]+)"/.exec(text)?.[1] ?? ''
  return published.components.responses[name]
}

/** Values that a parameter cannot have; none for a free text. */
function impossible({ name, schema }: Parameter): string[] {
  const { type, format, pattern } = schema
  if (['limit', 'offset'].includes(name)) return []
  // A cursor is read by its list. The feed of events goes on after a number.
  if (name === 'after') return type === 'integer' ? ['abc', 'undefined'] : []
  if (schema.enum !== undefined || type === 'boolean') return ['no-such-value', 'TRUE']
  if (type === 'integer') return schema.minimum === undefined ? ['abc', '-1', '1.5'] : ['abc']
  if (format === 'date' || format === 'date-time') return ['yesterday', '2026-02-30', '2026-13-01']
  return pattern === undefined ? [] : ['!']
}

const RANGES = [
  ['from', 'to'],
  ['created_from', 'created_to'],
] as const

describe('every list of merchants and the operator', () => {
  const shared = share(async (scope) => {
    const app = await openTestApp(scope)
    const callers: Record<string, Caller> = {
      merchant: await app.merchant('acme'),
      operator: app.operator,
    }
    await putLive(await openSuperuser(scope, app.database), 'acme')
    return { callers }
  })

  const read = async ({ path, plane }: List, query: string): Promise<Answer> => {
    const caller = shared.current.callers[plane]
    assert.ok(caller)
    const url = fillPath(path.replaceAll(/\{(\w+)\}/g, ':$1'), { tenant: 'acme' })
    return caller.get(`${url}?${query}`)
  }

  async function assertRefused(list: List, query: string, name: string): Promise<string> {
    const { status, body, text } = await read(list, query)
    const what = `${list.path}?${query}: ${text.slice(0, 400)}`
    assert.deepEqual([status, body.error?.code], [400, 'validation_error'], what)
    const [issue] = body.issues
    assert.equal(issue.path, name, what)
    return issue.message
  }

  test('refuses a parameter that it does not know, and names those that it knows', async () => {
    assert.ok(LISTS.length > 70, `${LISTS.length}`)
    for (const list of LISTS) {
      const message = await assertRefused(list, 'no_such_filter=1', 'no_such_filter')
      for (const { name } of list.known)
        assert.ok(message.includes(name), `${list.path}: ${message}`)
      const sorted = list.known.some(({ name }) => name === 'sort')
      if (!sorted) await assertRefused(list, 'sort=newest', 'sort')
    }
  })

  test('refuses a value outside of a closed set and a date that does not exist', async () => {
    let refused = 0
    for (const list of LISTS) {
      for (const parameter of list.known) {
        for (const value of impossible(parameter)) {
          await assertRefused(
            list,
            `${parameter.name}=${encodeURIComponent(value)}`,
            parameter.name,
          )
          refused += 1
        }
      }
    }
    assert.ok(refused > 150, `${refused}`)
  })

  test('refuses a filter that is sent twice, as only one of the values could count', async () => {
    let refused = 0
    for (const list of LISTS) {
      const filter = list.known.find(({ name }) => !['limit', 'offset', 'after'].includes(name))
      if (filter === undefined) continue
      const value = encodeURIComponent(filter.schema.enum?.[0] ?? '2026-03-01')
      await assertRefused(list, `${filter.name}=${value}&${filter.name}=${value}`, filter.name)
      refused += 1
    }
    assert.ok(refused > 50, `${refused}`)
  })

  test('refuses a range whose end is before its beginning', async () => {
    let refused = 0
    for (const list of LISTS) {
      for (const [from, to] of RANGES) {
        if (![from, to].every((name) => list.known.some((each) => each.name === name))) continue
        await assertRefused(list, `${from}=2026-03-02&${to}=2026-03-01`, from)
        const same = await read(list, `${from}=2026-03-01&${to}=2026-03-01`)
        assert.notEqual(same.body.error?.code, 'validation_error', list.path)
        refused += 1
      }
    }
    assert.ok(refused > 15, `${refused}`)
  })

  test('treats an empty value as an absent one, and never refuses a limit or an offset', async () => {
    for (const list of LISTS) {
      const empty = list.known.map(({ name }) => `${name}=`).join('&')
      for (const query of [
        empty,
        'limit=-1&offset=x',
        'limit=1e99&offset=1.5',
        'limit=a&limit=b',
      ]) {
        const { body, text } = await read(list, query)
        assert.notEqual(body.error?.code, 'validation_error', `${list.path}?${query}: ${text}`)
      }
    }
  })
})

test("a merchant's list suggests the right name for a misspelt filter, and a public read ignores it", async (t) => {
  const app = await openTestApp(t)
  const merchant = await app.merchant('acme')
  await putLive(await openSuperuser(t, app.database), 'acme')
  const { body } = await merchant.get('/v1/merchant/orders?stauts=placed&is_test=yes')
  const messages = body.issues.map(({ message }: { message: string }) => message)
  assert.match(messages[0], /did you mean `status`\?/)
  assert.equal(messages[1], 'must be one of true, false')
  const url = '/v1/tenants/acme/catalog'
  for (const path of [`${url}/products?utm_source=x`, `${url}/search?q=tea&sort=odd&fbclid=1`]) {
    assert.equal((await app.anyone.get(path)).status, 200, path)
  }
  const shoppers = '/v1/tenants/acme/subscriptions?customer_ref=ann&utm=x&status=odd'
  assert.equal((await app.storefront.get(shoppers)).status, 200)
})
