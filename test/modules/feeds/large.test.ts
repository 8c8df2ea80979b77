import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { RULES_VERSION } from '@fairdock/claim-scanner/rules-version'
import { FORMATS } from '../../../src/modules/feeds/formats.ts'
import * as feeds from '../../../src/modules/feeds/service.ts'
import type { Scanner } from '../../../src/modules/health-claims/scanner.ts'
import { openTestApp } from '../../harness/app.ts'
import { share } from '../../harness/scope.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import {
  addManyProducts,
  depsOf,
  google,
  openai,
  openShop,
  parseLines,
  parseTsv,
  rowsOf,
} from './setup.ts'

const MIB = 1_024 * 1_024

/** Many pages of products. */
const MANY = 11_000

const shared = share(async (scope) => {
  const app = await openTestApp(scope)
  return { app, superuser: await openSuperuser(scope, app.database) }
})

/** A scanner that passes every document up to a number of pages of products. */
function scannerThatFailsAfter(pages: number): Scanner {
  let scanned = 0
  return {
    async scan(value) {
      if (Array.isArray(value)) scanned += 1
      if (scanned > pages) throw new Error('the scanner is gone')
      return { passed: true, findings: [], truncated: false, rulesVersion: RULES_VERSION }
    },
    close: async () => {},
  }
}

describe('a feed of many products', () => {
  test('has each product once, and is read again without a scan', async (t) => {
    const app = await openTestApp(t, { live: true })
    const superuser = await openSuperuser(t, app.database)
    await openShop(app, 'many')
    await addManyProducts(superuser, 'many', MANY)
    const answer = await app.anyone.get(google('many'))
    const { etag = '' } = answer.headers
    const same = await app.anyone.send('GET', google('many'), undefined, { 'if-none-match': etag })
    assert.equal(same.status, 304)
    const rows = rowsOf(answer)
    const expected = Array.from({ length: MANY }, (_, n) => `Item ${MANY - n}`)
    assert.deepEqual(
      rows.map(({ title }) => title),
      expected,
    )
    const count = 'select count(*)::int as scans, max(scanned_at) as last from product_scans'
    const before = (await superuser.query(count)).rows
    assert.equal(before[0].scans, MANY)
    const items = parseLines((await app.anyone.get(openai('many'))).bytes)
    assert.deepEqual(
      items.map(({ title }) => title),
      expected,
    )
    assert.deepEqual((await superuser.query(count)).rows, before)
  })

  test('is cut into pages by its bytes, so that long texts do not fill the memory', async () => {
    const { app, superuser } = shared.current
    await openShop(app, 'long')
    await addManyProducts(superuser, 'long', 300)
    await superuser.query('begin')
    await superuser.query('set local session_replication_role = replica')
    await superuser.query(
      `update products set description = repeat('long words ', 1800) where tenant_ref = 'long'`,
    )
    await superuser.query('commit')
    const feed = await feeds.open(depsOf(app), 'long', FORMATS.google)
    const parts = await Array.fromAsync(feed.read())
    assert.equal(parseTsv(parts.join('')).length, 300)
    // Six megabytes of texts, of which a page has one.
    assert.ok(parts.length > 6, `${parts.length} parts`)
    for (const part of parts) assert.ok(part.length < MIB, `a part of ${part.length}`)
  })

  test('leaves out hundreds of refused products and keeps those between them', async () => {
    const { app, superuser } = shared.current
    await openShop(app, 'mixed')
    await addManyProducts(superuser, 'mixed', 600)
    await superuser.query('begin')
    await superuser.query('set local session_replication_role = replica')
    await superuser.query(
      `update products set description = 'It cures cancer. It treats diabetes. It heals arthritis.'
        where tenant_ref = 'mixed' and substr(slug, 6)::int % 7 <> 0`,
    )
    await superuser.query('commit')
    const rows = rowsOf(await app.anyone.get(google('mixed')))
    const kept = Array.from({ length: 600 }, (_, n) => 600 - n).filter((n) => n % 7 === 0)
    assert.deepEqual(
      rows.map(({ title }) => title),
      kept.map((n) => `Item ${n}`),
    )
  })
})

describe('a scan that cannot run', () => {
  test('answers an error before the first byte, and never passes a product', async (t) => {
    const app = await openTestApp(t, { scanner: scannerThatFailsAfter(0) })
    const superuser = await openSuperuser(t, app.database)
    await openShop(app, 'unscanned')
    await addManyProducts(superuser, 'unscanned', 3)
    for (const path of [google('unscanned'), openai('unscanned')]) {
      const answer = await app.anyone.get(path)
      assert.deepEqual([answer.status, answer.body.error?.code], [503, 'scan_unavailable'])
      assert.equal(answer.headers['cache-control'], 'no-store')
      assert.equal(answer.headers.etag, undefined)
    }
    const { rows } = await superuser.query('select 1 from product_scans')
    assert.deepEqual(rows, [])
  })

  test('breaks off a feed that has begun, so that no reader takes it for complete', async (t) => {
    const app = await openTestApp(t, { scanner: scannerThatFailsAfter(1) })
    const superuser = await openSuperuser(t, app.database)
    await openShop(app, 'broken')
    await addManyProducts(superuser, 'broken', 600)
    await assert.rejects(app.anyone.get(google('broken')), /terminated|fetch failed|socket/i)
  })
})

test('readers of one address get their feeds one after another, and those who cannot wait get a refusal', async () => {
  const { app, superuser } = shared.current
  await openShop(app, 'busy')
  await addManyProducts(superuser, 'busy', 50)
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => app.anyone.get(google('busy'))),
  )
  const served = answers.filter(({ status }) => status === 200)
  // One is sent, and eight wait.
  assert.ok(served.length >= 9, `${served.length} of 30`)
  for (const answer of served) assert.equal(parseTsv(answer.text).length, 50)
  const refusals = ['503 service_unavailable', '429 rate_limited']
  for (const { status, body, headers } of answers.filter((each) => each.status !== 200)) {
    assert.ok(refusals.includes(`${status} ${body.error.code}`), `${status} ${body.error.code}`)
    assert.ok(Number(headers['retry-after']) > 0)
  }
})
