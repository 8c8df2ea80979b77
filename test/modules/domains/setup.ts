import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type pg from 'pg'
import { createTxtLookup, type FindTxt } from '../../../src/modules/domains/txt-lookup.ts'
import { type Caller, openTestApp, type TestApp } from '../../harness/app.ts'
import { startDns, type TestDns, texts } from '../../harness/dns.ts'
import { openSuperuser } from '../../harness/superuser.ts'

export const URL = '/v1/merchant/domains'
export const PLATFORM = 'fairdock.test'

export interface Domain {
  id: string
  hostname: string
  status: string
  verification: { type: string; name: string; value: string }
}

export interface DomainsApp extends TestApp {
  dns: TestDns
  /** The lookup of this installation's name server. */
  findTxt: FindTxt
  /** Changes and reads rows directly, for example to move times. */
  superuser: pg.Client
}

/** The whole application, and a name server that it asks. */
export async function openDomainsApp(
  t: TestContext,
  env: Record<string, string> = {},
): Promise<DomainsApp> {
  const dns = await startDns()
  t.after(() => dns.close())
  const app = await openTestApp(t, {
    env: { PUBLIC_URL: `https://${PLATFORM}`, DNS_SERVERS: dns.server, ...env },
  })
  const superuser = await openSuperuser(t, app.database)
  return { ...app, dns, findTxt: createTxtLookup([dns.server]), superuser }
}

export async function claim(merchant: Caller, hostname: string): Promise<Domain> {
  const { status, body, text } = await merchant.post(URL, { hostname })
  assert.equal(status, 201, text)
  return body.domain
}

/** Sets the record that a claim asks for. */
export const setRecord = (dns: TestDns, { verification }: Domain) =>
  dns.set(verification.name, texts(verification.value))

export const verify = (merchant: Caller, { id }: Domain) => merchant.post(`${URL}/${id}/verify`)

/** An active hostname of the merchant. */
export async function claimActive(app: DomainsApp, merchant: Caller, hostname: string) {
  const domain = await claim(merchant, hostname)
  setRecord(app.dns, domain)
  const { body, text } = await verify(merchant, domain)
  assert.equal(body.domain.status, 'active', text)
  return domain
}

export const read = async (merchant: Caller, { id }: Domain) =>
  (await merchant.get(`${URL}/${id}`)).body.domain

export async function auditOf(app: TestApp, tenant: string, action: string) {
  const { body } = await app.operator.get(`/v1/stores/${tenant}/audit?action=domain.${action}`)
  return body.entries as { actor: string; entity: string; after: Record<string, unknown> }[]
}
