import { randomUUID } from 'node:crypto'
import type { Database } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { canonicalHostname, hostSubject } from '../../kernel/hostname.ts'
import { sha256 } from '../../kernel/tokens.ts'
import type { CachedResponse } from '../../platform/cached-response.ts'
import type { LiveCache } from '../../platform/live-cache.ts'
import * as domains from '../domains/service.ts'
import * as sites from './service.ts'
import { liveSite, resolvedSite, type Spliced } from './splice.ts'

/** How a public read is put into bytes. Given by the edge, which knows HTTP. */
export interface Wording {
  found(head: string, body: Buffer, etag: string): CachedResponse
  unknown: CachedResponse
}

export interface LiveDeps {
  database: Database
  cache: LiveCache
  wording: Wording
}

const SITE = 'site'
const RESOLVE = 'resolve'
const TENANT = 'tenant'

const resolveKey = (hostname: string | null) =>
  hostname === null ? RESOLVE : `${RESOLVE} ${hostname}`

/** What the public sees of a store, from memory or from the database. */
export const readSite = (deps: LiveDeps, tenant: string): Promise<CachedResponse> =>
  deps.cache.read(tenant, SITE, () => load(deps, tenant, liveSite))

export const findSite = (cache: LiveCache, tenant: string) => cache.find(tenant, SITE)

export const readByTenant = (deps: LiveDeps, tenant: string): Promise<CachedResponse> =>
  readResolved(deps, tenant, null)

export const findByTenant = (cache: LiveCache, tenant: string) => cache.find(tenant, RESOLVE)

/** By the host a shopper typed, in any of its spellings. */
export async function readByHostname(deps: LiveDeps, given: string): Promise<CachedResponse> {
  const hostname = canonicalHostname(given)
  if (hostname === null) return deps.wording.unknown
  const owner = await deps.cache.read(hostSubject(hostname), TENANT, () =>
    loadOwner(deps, hostname),
  )
  return readResolved(deps, tenantOf(owner), hostname)
}

/** Only for a host in its canonical spelling: any other is left to the route. */
export function findByHostname(cache: LiveCache, hostname: string): CachedResponse | null {
  const owner = cache.find(hostSubject(hostname), TENANT)
  return owner === null ? null : cache.find(tenantOf(owner), resolveKey(hostname))
}

/**
 * The store that nobody has. The host of none is looked up like the host of one that is hidden, in
 * as many steps: how long it takes must not tell which it is.
 */
const NOBODY = `nobody-${randomUUID()}`

const tenantOf = (owner: CachedResponse) => (owner.status === 200 ? owner.body.toString() : NOBODY)

const readResolved = (deps: LiveDeps, tenant: string, hostname: string | null) =>
  deps.cache.read(tenant, resolveKey(hostname), async () => {
    // Whose the host is may be remembered from before it went. The store's own answers are dropped
    // before a write to it is answered, so none of them is made again without asking.
    if (hostname !== null && ((await findOwner(deps, hostname)) ?? NOBODY) !== tenant) {
      return deps.wording.unknown
    }
    return load(deps, tenant, (store, version) => resolvedSite(store, version, hostname))
  })

type Put = (...found: [...Parameters<typeof liveSite>]) => Spliced

async function load(
  { database, wording }: LiveDeps,
  tenant: string,
  put: Put,
): Promise<CachedResponse> {
  const found = await read(sites.findLive(database.tenant(tenant)))
  if (found === null) return wording.unknown
  const { head, rest } = put(found.store, found.version)
  const etag = put === liveSite ? found.version.rowHash : resolvedTag(found)
  return wording.found(head, Buffer.from(rest), `"${etag}"`)
}

/**
 * The manifest's hash; and where a primary host stands in the answer too, that as well: it can
 * change while the manifest does not, and a renderer must hear of it.
 */
function resolvedTag({ store, version }: NonNullable<Awaited<ReturnType<typeof sites.findLive>>>) {
  const { primary_hostname } = store
  if (primary_hostname === null) return version.rowHash
  return `${version.rowHash}-${sha256(primary_hostname).toString('hex', 0, 4)}`
}

async function loadOwner(deps: LiveDeps, hostname: string): Promise<CachedResponse> {
  const tenant = await findOwner(deps, hostname)
  if (tenant === null) return deps.wording.unknown
  return { status: 200, headers: {}, body: Buffer.from(tenant) }
}

const findOwner = ({ database }: LiveDeps, hostname: string) =>
  read(domains.findTenantByHostname(database.global, hostname))

/** A read that fails says so; it is never an empty answer. */
async function read<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw new ApiError('resolve_unavailable', { cause: error })
  }
}
