import type { Database } from '../../db/database.ts'
import type { Runner } from '../../db/sql.ts'
import { ApiError } from '../../errors.ts'
import { canonicalHostname } from '../../kernel/hostname.ts'
import type { Answer } from '../../platform/live-answer.ts'
import type { LiveCache } from '../../platform/live-cache.ts'
import * as domains from '../domains/service.ts'
import * as sites from './service.ts'
import { liveSite, resolvedSite, type Spliced } from './splice.ts'

/** How a public read is put into bytes. Given by the edge, which knows HTTP. */
export interface Wording {
  found(head: string, body: Buffer, tail: string, etag: string): Answer
  unknown: Answer
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

/** Hosts have entries of their own, dropped when a domain changes; no tenant is called like this. */
const hostSubject = (hostname: string) => `host:${hostname}`

/** What the public sees of a store, from memory or from the database. */
export const readSite = (deps: LiveDeps, tenant: string): Promise<Answer> =>
  deps.cache.read(tenant, SITE, () => load(deps, tenant, liveSite))

export const findSite = (cache: LiveCache, tenant: string) => cache.find(tenant, SITE)

export const readByTenant = (deps: LiveDeps, tenant: string): Promise<Answer> =>
  readResolved(deps, tenant, null)

export const findByTenant = (cache: LiveCache, tenant: string) => cache.find(tenant, RESOLVE)

/** By the host a shopper typed, in any of its spellings. */
export async function readByHostname(deps: LiveDeps, given: string): Promise<Answer> {
  const hostname = canonicalHostname(given)
  if (hostname === null) return deps.wording.unknown
  const owner = await deps.cache.read(hostSubject(hostname), TENANT, () =>
    loadOwner(deps, deps.database.global, hostname),
  )
  if (owner.status !== 200) return deps.wording.unknown
  return readResolved(deps, owner.body.toString(), hostname)
}

/** Only for a host in its canonical spelling: any other is left to the route. */
export function findByHostname(cache: LiveCache, hostname: string): Answer | null {
  const owner = cache.find(hostSubject(hostname), TENANT)
  if (owner === null || owner.status !== 200) return null
  return cache.find(owner.body.toString(), resolveKey(hostname))
}

const readResolved = (deps: LiveDeps, tenant: string, hostname: string | null) =>
  deps.cache.read(tenant, resolveKey(hostname), () =>
    load(deps, tenant, (store, version) => resolvedSite(store, version, hostname)),
  )

type Put = (...found: [...Parameters<typeof liveSite>]) => Spliced

async function load({ database, wording }: LiveDeps, tenant: string, put: Put): Promise<Answer> {
  const found = await read(sites.findLive(database.tenant(tenant)))
  if (found === null) return wording.unknown
  const { head, manifest, tail } = put(found.store, found.version)
  return wording.found(head, Buffer.from(manifest), tail, `"${found.version.rowHash}"`)
}

async function loadOwner({ wording }: LiveDeps, db: Runner, hostname: string): Promise<Answer> {
  const tenant = await read(domains.findTenantByHostname(db, hostname))
  if (tenant === null) return wording.unknown
  return { status: 200, headers: {}, body: Buffer.from(tenant) }
}

/** A read that fails says so; it is never an empty answer. */
async function read<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw new ApiError('resolve_unavailable', { cause: error })
  }
}
