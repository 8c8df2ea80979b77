import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingHttpHeaders, request as openRequest } from 'node:http'
import type { TestContext } from 'node:test'
import type { Scanner } from '../../../src/modules/health-claims/scanner.ts'
import type { Finding } from '../../../src/modules/health-claims/schema.ts'
import { notifyChanged } from '../../../src/platform/live-cache.ts'
import { type Caller, openTestApp, type TestApp, type TestAppOptions } from '../../harness/app.ts'
import { until } from '../../harness/eventually.ts'

export const DRAFT = '/v1/my/site/draft'
export const PUBLISH = '/v1/my/site/publish'
export const OVERVIEW = '/v1/my/site'
export const MANIFEST = '/v1/my/store/manifest'
export const PREVIEW_TOKEN = '/v1/my/site/preview-token'

export const siteUrl = (tenant: string) => `/v1/tenants/${tenant}/site`
export const resolveUrl = (tenant: string) => `/v1/resolve?tenant=${tenant}`
export const hostUrl = (hostname: string) => `/v1/resolve?hostname=${encodeURIComponent(hostname)}`

export const titled = (title: string) => ({ manifest: { seo: { title } } })

/** A scanner with the findings of a test. */
export const scannerOf = (scan: () => readonly Finding[]): Scanner => ({
  scan: async () => {
    const findings = [...scan()]
    const passed = findings.every(({ severity }) => severity !== 'CRITICAL')
    return { passed, findings, truncated: false, rulesVersion: 'test' }
  },
  close: async () => {},
})

export interface RawAnswer {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
}

interface RawRequest {
  method?: string
  headers?: Record<string, string>
  body?: string
}

/** Sends and receives the exact bytes: no body is rewritten, no encoding undone. */
export async function sendRaw(
  { url }: { url: string },
  path: string,
  { method = 'GET', headers = {}, body }: RawRequest = {},
): Promise<RawAnswer> {
  const request = openRequest(url + path, { method, headers, agent: false })
  // As bytes: for a text, Node would write the headers in its encoding.
  request.end(body === undefined ? undefined : Buffer.from(body))
  const [response] = await once(request, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) }
}

/**
 * Saves a manifest with exactly this text, and publishes it unless the path is the one of drafts.
 */
export async function saveText(
  app: TestApp,
  key: string,
  manifest: string,
  path: string = MANIFEST,
): Promise<{ version: number; rowHash: string; warnings: unknown[] }> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = `{ "other": 1, "manifest" : ${manifest} , "more": {"manifest": 2}}`
  const answer = await sendRaw(app, path, { method: 'PUT', headers, body })
  assert.equal(answer.status, 200, answer.body.toString())
  return JSON.parse(answer.body.toString())
}

export const setStatus = async (app: TestApp, tenant: string, status: string) => {
  const answer = await app.operator.put(`/v1/stores/${tenant}/status`, { status })
  assert.equal(answer.status, 200, answer.text)
}

/** A live store, and its merchant. */
export async function openLiveStore(
  app: TestApp,
  tenant: string,
  body: unknown = titled('one'),
): Promise<Caller> {
  const merchant = await app.merchant(tenant)
  const saved = await merchant.put(MANIFEST, body)
  assert.equal(saved.status, 200, saved.text)
  await setStatus(app, tenant, 'live')
  return merchant
}

/** A hostname of the store that the operator has activated. */
export async function openHost(app: TestApp, merchant: Caller, tenant: string, hostname: string) {
  const claimed = await merchant.post('/v1/merchant/domains', { hostname })
  assert.equal(claimed.status, 201, claimed.text)
  const { id } = claimed.body.domain as { id: string }
  const active = await app.operator.post(`/v1/stores/${tenant}/domains/${id}/activate`)
  assert.equal(active.status, 200, active.text)
  return { id, hostname }
}

/** An app whose live cache answers public reads. */
export async function openCachingApp(t: TestContext, options: TestAppOptions = {}) {
  const app = await openTestApp(t, { ...options, live: true })
  await until('kept', () => app.runtime.cache.trusted)
  return app
}

/**
 * Brings an answer into the live cache. It first waits for the notifications of earlier changes,
 * which would remove the answer again.
 */
export async function cacheAnswer(app: TestApp, path: string) {
  await waitForNotifications(app)
  await until('answered from memory', async () => {
    const before = app.runtime.cache.stats()
    await sendRaw(app, path)
    await sendRaw(app, path)
    const { hits, misses, bypassed } = app.runtime.cache.stats()
    return hits > before.hits && misses === before.misses && bypassed === before.bypassed
  })
}

/**
 * Waits for a notification of its own: notifications arrive in the order in which they were sent.
 */
async function waitForNotifications({ runtime: { cache, database } }: TestApp) {
  const subject = randomUUID()
  const old = { status: 200, headers: {}, body: Buffer.from('old') }
  await until('kept', async () => {
    await cache.read(subject, 'news', async () => old)
    return cache.find(subject, 'news') !== null
  })
  await database.tenant(subject).transaction('test: news', (tx) => notifyChanged(tx))
  await until('heard', () => cache.find(subject, 'news') === null)
}
