import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { sign } from '../../../src/kernel/tokens.ts'
import { createToken } from '../../../src/modules/sites/preview.ts'
import { type Answer, openTestApp, type TestApp } from '../../harness/app.ts'
import { essence } from '../../harness/refusals.ts'
import { share } from '../../harness/scope.ts'
import { listTables, openSuperuser } from '../../harness/superuser.ts'
import { DRAFT, openLiveStore, PREVIEW_TOKEN, setStatus, titled } from './setup.ts'

const MINUTES = 60_000

const show = (app: TestApp, token: string) =>
  app.anyone.get(`/v1/preview-resolve?token=${encodeURIComponent(token)}`)

const REFUSED =
  '{"error":{"code":"invalid_preview_token","message":"The preview token is not valid, or has expired. Create a new one."}}'

/** An app with a clock that only a test moves. */
async function openStill(t: TestContext) {
  const clock = { time: Date.now(), now: () => clock.time }
  return { app: await openTestApp(t, { clock }), clock }
}

/** No test moves its clock. */
const shared = share(openStill)

/** A draft store with one version, and a token for it. */
async function openPreview({ app, clock }: typeof shared.current, tenant: string) {
  const acme = await app.merchant(tenant)
  await acme.put(DRAFT, titled('one'))
  const minted = await acme.post(PREVIEW_TOKEN, { version: 1 })
  assert.equal(minted.status, 200, minted.text)
  return { app, acme, clock, minted, token: minted.body.token as string }
}

function assertNoPreview(answer: Answer, what: string) {
  assert.equal(answer.status, 404, what)
  assert.equal(answer.text, REFUSED, what)
}

describe('a preview token', () => {
  test('shows a version of a store that is not live yet, with an answer that must not be cached', async () => {
    const { app, minted, token, clock } = await openPreview(shared.current, 'not-live')
    const expiresAt = new Date(clock.time + 30 * MINUTES).toISOString()
    assert.match(token, /^fdpv_[A-Za-z0-9_-]+$/)
    assert.deepEqual(minted.body, { token, version: 1, expiresAt })
    const { status, headers, body } = await show(app, token)
    assert.equal(status, 200)
    const storeNumber = (await app.operator.get('/v1/stores/not-live')).body.store.store_number
    assert.deepEqual(body, {
      tenantRef: 'not-live',
      storeNumber,
      status: 'draft',
      manifestVersion: 1,
      ...titled('one'),
      preview: { version: 1, expiresAt },
    })
    assert.equal(headers['cache-control'], 'no-store')
    assert.equal(headers.etag, undefined)
    const known = app.as({ 'if-none-match': '*' })
    assert.equal((await known.get(`/v1/preview-resolve?token=${token}`)).status, 200)
  })

  test('is valid for 30 minutes', async (t) => {
    const { app, token, clock } = await openPreview(await openStill(t), 'acme')
    clock.time += 30 * MINUTES - 1
    assert.equal((await show(app, token)).status, 200)
    clock.time += 1
    assertNoPreview(await show(app, token), 'after 30 minutes')
  })

  test('shows nothing of a suspended store, and everything of a live one', async () => {
    const { app } = shared.current
    const acme = await openLiveStore(app, 'hidden')
    await acme.put(DRAFT, titled('two'))
    const { token } = (await acme.post(PREVIEW_TOKEN, { version: 2 })).body
    assert.equal((await show(app, token)).body.manifestVersion, 2)
    await setStatus(app, 'hidden', 'suspended')
    assertNoPreview(await show(app, token), 'suspended')
    assert.equal((await acme.post(PREVIEW_TOKEN, { version: 2 })).status, 200, 'keys still work')
    await setStatus(app, 'hidden', 'draft')
    assert.equal((await show(app, token)).body.status, 'draft')
  })

  test('is refused if any character differs', async () => {
    // With a name of this length the last character has bits to spare, which must not differ.
    const { app, token } = await openPreview(shared.current, 'acme')
    const wanted = essence(await show(app, 'fdpv_'))
    assert.equal(wanted.text, REFUSED)
    const text = token.slice('fdpv_'.length)
    const bytes = Buffer.from(text, 'base64url')
    const altered = Array.from(token, (character, i) => {
      const other = character === 'A' ? 'B' : 'A'
      return token.slice(0, i) + other + token.slice(i + 1)
    })
    const flipped = Array.from(bytes, (byte, i) => {
      const copy = Buffer.from(bytes)
      copy[i] = byte ^ (1 << (i % 8))
      return `fdpv_${copy.toString('base64url')}`
    })
    const last = text.at(-1) ?? ''
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const others = Array.from(alphabet, (character) => token.slice(0, -1) + character)
    const forms = [
      '',
      ' ',
      'nonsense',
      text,
      `fdk_${text}`,
      `FDPV_${text}`,
      `fdpv_fdpv_${text}`,
      token.slice(0, -1),
      token.slice(0, -4),
      `${token}A`,
      `${token}=`,
      `${token}==`,
      ` ${token}`,
      `${token} `,
      `${token}\n`,
      `fdpv_${bytes.toString('base64')}=`,
      `fdpv_${bytes.toString('hex')}`,
      `fdpv_${encodeURIComponent('é')}${text}`,
      'x'.repeat(5_000),
    ]
    const all = [...altered, ...flipped, ...forms, ...others.filter((each) => !each.endsWith(last))]
    for (const each of all) {
      assert.notEqual(each, token)
      const answer = await show(app, each)
      assert.deepEqual(essence(answer), wanted, each)
    }
    for (const query of ['', '?', '?token', '?token=', `?tokens=${token}`, `?Token=${token}`]) {
      const answer = await app.anyone.get(`/v1/preview-resolve${query}`)
      assert.deepEqual(essence(answer), wanted, query)
    }
    assert.equal((await show(app, token)).status, 200)
  })

  test('is valid for one store, one version and one purpose only', async () => {
    const { app, acme, clock, token } = await openPreview(shared.current, 'one-store')
    const globex = await app.merchant('globex')
    await globex.put(DRAFT, titled('of globex'))
    const expiresAt = clock.time + MINUTES
    const key = app.runtime.key('preview token')
    const other = app.runtime.key('email verification')
    const one = { tenant: 'one-store', version: 1, expiresAt }
    assert.equal((await show(app, createToken(key, one))).status, 200, 'created as ours are')

    const bytes = Buffer.from(token.slice('fdpv_'.length), 'base64url')
    const spliced = Buffer.from(bytes.toString('latin1').replace('one-store', 'globex'), 'latin1')
    const payload = (...members: unknown[]) => Buffer.from(JSON.stringify(members))
    const wrong = {
      "another store's name": `fdpv_${spliced.toString('base64url')}`,
      "another purpose's key": createToken(other, one),
      "another purpose's payload": `fdpv_${sign(other, Buffer.from('{"email":"a@b.example"}'))}`,
      'a version that is none': createToken(key, { ...one, version: 2 }),
      'a store that is none': createToken(key, { ...one, tenant: 'nobody' }),
      'another form': `fdpv_${sign(key, payload(2, 'one-store', 1, expiresAt))}`,
    }
    for (const [what, each] of Object.entries(wrong)) assertNoPreview(await show(app, each), what)
    const verification = createToken(key, one).slice('fdpv_'.length)
    const owner = await app.owner('a@b.example')
    const answer = await owner.post('/v1/identity/verify', { token: verification })
    assert.ok(answer.status >= 400 && answer.status < 500, answer.text)
    const shown = await show(app, (await globex.post(PREVIEW_TOKEN, { version: 1 })).body.token)
    assert.equal(shown.body.tenantRef, 'globex')
    assert.equal((await acme.get('/v1/my/site')).body.versions_total, 1)
  })

  test('is not stored anywhere', async (t) => {
    const { app, acme } = await openPreview(await openStill(t), 'acme')
    const superuser = await openSuperuser(t, app.database)
    const counts = async () => {
      const rows: Record<string, number> = {}
      for (const table of await listTables(superuser)) {
        // Requests count against the caller's limit, whatever they read, and calls are written down seconds later.
        if (table.startsWith('limit') || table.startsWith('api_call')) continue
        const { rowCount } = await superuser.query(`select from "${table}"`)
        rows[table] = rowCount ?? 0
      }
      return rows
    }
    const before = await counts()
    const { token } = (await acme.post(PREVIEW_TOKEN, { version: 1 })).body
    await show(app, token)
    await show(app, `${token}x`)
    assert.deepEqual(await counts(), before)
  })
})
