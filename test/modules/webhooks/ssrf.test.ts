import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createSafeFetch } from '../../../src/platform/safe-fetch.ts'
import { FORBIDDEN_ADDRESSES, UNSAFE_URLS } from '../../harness/address-vectors.ts'
import { openCanary } from '../../harness/canary.ts'
import { startDns } from '../../harness/dns.ts'
import { openServers, TEST_CA } from '../../harness/servers.ts'
import { assertCode, openWebhooksApp, PLACED, URL } from './setup.ts'

const PUBLIC = '8.8.8.8'

test('no endpoint leads into our own network', async (t) => {
  const dns = await startDns()
  const canary = await openCanary()
  const servers = openServers()
  const safeFetch = createSafeFetch({
    testTargets: [],
    resolver: { servers: [dns.server] },
    ownAddresses: canary.hosts,
    ca: TEST_CA,
    timeoutMs: 3_000,
  })
  t.after(async () => {
    await Promise.all([dns.close(), canary.close(), servers.close(), safeFetch.close()])
  })
  const app = await openWebhooksApp(t, { safeFetch })
  const acme = await app.merchant('acme', 'manage:own_webhooks')
  const unsafe = UNSAFE_URLS.flatMap(([reason, ...urls]) =>
    urls.map((url) => [reason, url.replaceAll('PORT', String(canary.port))] as const),
  )
  const addresses = FORBIDDEN_ADDRESSES.flatMap(([, ...each]) => each)

  /** Works in groups, each after the limits were reset: a store may register only thirty a minute. */
  async function inGroups<T>(all: readonly T[], size: number, work: (one: T) => Promise<void>) {
    for (let n = 0; n < all.length; n += size) {
      await app.admin.query('truncate limit_counters')
      await Promise.all(all.slice(n, n + size).map(work))
    }
  }
  const register = (url: string) => acme.post(URL, { url, events: [PLACED] })
  const resolveTo = (name: string, address: string) =>
    dns.set(name, (type) => ({
      addresses: (type === 'AAAA') === address.includes(':') ? [address] : [],
    }))

  /** Sends an event and a test to every endpoint: each must be refused before a connection. */
  async function assertClosed(ids: readonly string[]) {
    await app.place('acme')
    while ((await app.dispatch()) > 0);
    await inGroups(ids, 10, async (id) => {
      const { body } = await acme.post(`${URL}/${id}/test`)
      assert.deepEqual([body.outcome, body.status_code], ['failed', null])
    })
    const { rows } = await app.admin.query(
      `select last_attempt_error as error, count(*)::int
         from webhook_deliveries where subscription_id = any ($1) group by 1`,
      [ids],
    )
    const error = 'The destination is not a public HTTPS address.'
    assert.deepEqual(rows, [{ error, count: ids.length * 2 }])
    await app.admin.query('delete from webhook_subscriptions')
  }

  await t.test(
    'registering refuses every unsafe spelling, and names that resolve to private addresses',
    async () => {
      await inGroups(unsafe, 25, async ([reason, url]) => {
        const malformed = reason === 'malformed' || url.includes('\0')
        assertCode(await register(url), 400, malformed ? 'invalid_body' : 'unsafe_url')
      })
      await inGroups(addresses, 25, async (address) => {
        const name = `${randomUUID()}.test`
        resolveTo(name, address)
        const answer = await register(`https://${name}:${canary.port}/`)
        assertCode(answer, 400, 'unsafe_url')
        // The message must not help to map our network.
        assert.equal(
          answer.body.error.message,
          'The URL must be HTTPS and lead to a public address. Use another URL.',
        )
      })
      const vectors = unsafe.length + addresses.length
      assert.ok(vectors >= 110, `${vectors} vectors`)
      assert.deepEqual((await acme.get(URL)).body, { subscriptions: [] })
      assert.equal(await canary.connections(), 0)
    },
  )

  await t.test('an unsafe URL that is already in the database is not called', async () => {
    const urls = unsafe.map(([, url]) => url).filter((url) => !url.includes('\0'))
    for (let n = 0; n < urls.length; n += 20) {
      const ids: string[] = []
      await inGroups(urls.slice(n, n + 20), 20, async (url) => {
        const { body } = await register(`https://${randomUUID()}.test/`)
        const { id } = body.subscription
        await app.admin.query('update webhook_subscriptions set url = $1 where id = $2', [url, id])
        ids.push(id)
      })
      await assertClosed(ids)
    }
    assert.equal(await canary.connections(), 0)
  })

  await t.test(
    'a name that resolves to our network after its registration is not called',
    async () => {
      for (let n = 0; n < addresses.length; n += 20) {
        const ids: string[] = []
        await inGroups(addresses.slice(n, n + 20), 20, async (address) => {
          const name = `${randomUUID()}.test`
          resolveTo(name, PUBLIC)
          const made = await register(`https://${name}:${canary.port}/`)
          assert.equal(made.status, 201, made.text)
          ids.push(made.body.subscription.id)
          resolveTo(name, address)
        })
        await assertClosed(ids)
      }
      assert.equal(await canary.connections(), 0)
      assert.equal(canary.bytes(), 0)
    },
  )
})
