import { randomUUID } from 'node:crypto'
import type { Database } from '../../db/database.ts'
import { canonicalHostname, hostSubject } from '../../kernel/hostname.ts'
import { sha256 } from '../../kernel/tokens.ts'
import type { CachedResponse } from '../../platform/cached-response.ts'
import type { LiveCache } from '../../platform/live-cache.ts'
import { findServedTenant } from '../domains/certificates.ts'
import { refuse } from './errors.ts'
import { liveSite, type ManifestJson, resolvedSite } from './manifest-json.ts'
import * as sites from './service.ts'

/** The answers of public reads as bytes. The routes provide them, since only they know HTTP. */
export interface PublicAnswers {
  found(head: string, body: Buffer, etag: string): CachedResponse
  unknown: CachedResponse
}

export interface LiveDeps {
  database: Database
  cache: LiveCache
  answers: PublicAnswers
}

const SITE = 'site'
const RESOLVE = 'resolve'
const TENANT = 'tenant'

const resolveKey = (hostname: string | null) =>
  hostname === null ? RESOLVE : `${RESOLVE} ${hostname}`

/** Reads the public site of a store, from memory or from the database. */
export const readSite = (deps: LiveDeps, tenant: string): Promise<CachedResponse> =>
  deps.cache.read(tenant, SITE, () => load(deps, tenant, liveSite))

export const findSite = (cache: LiveCache, tenant: string) => cache.find(tenant, SITE)

export const readByTenant = (deps: LiveDeps, tenant: string): Promise<CachedResponse> =>
  readResolved(deps, tenant, null)

export const findByTenant = (cache: LiveCache, tenant: string) => cache.find(tenant, RESOLVE)

/** Resolves the host that a shopper typed, in any of its spellings. */
export async function readByHostname(deps: LiveDeps, text: string): Promise<CachedResponse> {
  const hostname = canonicalHostname(text)
  if (hostname === null) return deps.answers.unknown
  const holder = await deps.cache.read(hostSubject(hostname), TENANT, () =>
    loadHolder(deps, hostname),
  )
  return readResolved(deps, tenantOf(holder), hostname)
}

/** Finds a host in its canonical spelling in memory. Any other spelling is left to the route. */
export function findByHostname(cache: LiveCache, hostname: string): CachedResponse | null {
  const holder = cache.find(hostSubject(hostname), TENANT)
  return holder === null ? null : cache.find(tenantOf(holder), resolveKey(hostname))
}

/**
 * The name that is used for the store of an unknown host. It is looked up like the store of a hidden host, in as many
 * steps, so that the time of the answer does not reveal which of the two it is.
 */
const NO_STORE = `no-store-${randomUUID()}`

const tenantOf = (holder: CachedResponse) =>
  holder.status === 200 ? holder.body.toString() : NO_STORE

const readResolved = (deps: LiveDeps, tenant: string, hostname: string | null) =>
  deps.cache.read(tenant, resolveKey(hostname), async () => {
    // The cached store of the host may be out of date. Before a change of the host is answered, the store's own
    // responses are dropped, so none of them is created again without this check.
    if (hostname !== null && ((await findHolder(deps, hostname)) ?? NO_STORE) !== tenant) {
      return deps.answers.unknown
    }
    return load(deps, tenant, (found) => resolvedSite(found, hostname))
  })

type BuildJson = (found: sites.FoundSite) => ManifestJson

async function load(
  { database, answers }: LiveDeps,
  tenant: string,
  build: BuildJson,
): Promise<CachedResponse> {
  const found = await read(sites.findLive(database.tenant(tenant)))
  if (found === null) {
    database.forget(tenant)
    return answers.unknown
  }
  database.learn(tenant)
  const { head, rest } = build(found)
  const etag = build === liveSite ? found.version.rowHash : resolvedTag(found)
  return answers.found(head, Buffer.from(rest), `"${etag}"`)
}

/**
 * The entity tag of a resolve: the manifest's hash and, if the store has a primary host or add-ons or is a sandbox, a
 * mark for each. All of them are part of the answer and can change while the manifest does not.
 */
function resolvedTag({ store, version, addOns }: sites.FoundSite) {
  const { primary_hostname, sandbox } = store
  const host = primary_hostname === null ? '' : markOf(primary_hostname)
  const offered = addOns.length === 0 ? '' : markOf(addOns.join(' '))
  return `${version.rowHash}${host}${sandbox ? '-sandbox' : ''}${offered}`
}

const markOf = (text: string) => `-${sha256(text).toString('hex', 0, 4)}`

async function loadHolder(deps: LiveDeps, hostname: string): Promise<CachedResponse> {
  const tenant = await findHolder(deps, hostname)
  if (tenant === null) return deps.answers.unknown
  return { status: 200, headers: {}, body: Buffer.from(tenant) }
}

const findHolder = ({ database }: LiveDeps, hostname: string) =>
  read(findServedTenant(database, hostname))

/** Turns a failed read into `resolve_unavailable`: it must never look like an empty answer. */
async function read<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw refuse('resolve_unavailable', { cause: error })
  }
}
