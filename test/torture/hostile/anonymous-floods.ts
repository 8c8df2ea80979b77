import { randomUUID } from 'node:crypto'
import type { FilledApp } from '../../../bench/scale/filled-app.ts'
import { openClient } from '../../../bench/scale/measure.ts'
import { ORDERS } from '../../../bench/scale/size.ts'
import type { Flood, FloodRequest } from './flood.ts'

/** What one address sends to a route that needs no credential. */
export interface AnonymousFlood extends Flood {
  name: string
}

/** More than a browser has, and few enough for one address. */
const CLIENTS = 32

/** Requests of a flood that differ, so that no memory has all of their answers. */
const DIFFERENT = 3_000

const JSON_HEADERS = { 'content-type': 'application/json' }

const many = (
  make: (n: number) => Omit<FloodRequest, 'headers'> & { headers?: Record<string, string> },
) => Array.from({ length: DIFFERENT }, (_, n): FloodRequest => ({ headers: {}, ...make(n) }))

/** Every route that needs no credential, by names that exist, where it takes any, and by names that do not. */
export async function listAnonymousFloods(
  filled: FilledApp,
  url: string,
): Promise<AnonymousFlood[]> {
  const { slug, collection } = await openClient(filled).targetOf(ORDERS.full)
  const floods: AnonymousFlood[] = []
  const add = (name: string, requests: readonly FloodRequest[]) =>
    floods.push({ name, requests, clients: CLIENTS })
  const addReads = (name: string, pathOf: (n: number) => string) =>
    add(
      name,
      many((n) => ({ method: 'GET', url: url + pathOf(n) })),
    )
  for (const [path, methods] of Object.entries(filled.document.paths)) {
    const filledPath = (name: string) =>
      path.replace('{tenant}', ORDERS.full).replace(/\{\w+\}/g, name)
    for (const [method, operation] of Object.entries(methods)) {
      if ((operation.security ?? []).length > 0) continue
      if (method === 'post') {
        const body = JSON.stringify(BODIES[path] ?? {})
        const sent = (n: number) => ({
          method: 'POST' as const,
          url: url + filledPath('none'),
          headers: JSON_HEADERS,
          body: body.replaceAll('#', String(n)),
        })
        add(`POST ${path}`, many(sent))
      } else if (method === 'get') {
        if (path.includes('{slug}')) addReads(`${path}, none`, (n) => filledPath(`none-${n}`))
        const known = path.includes('collections') ? collection : slug
        addReads(path, (n) => `${filledPath(String(known))}${QUERIES[path]?.(n) ?? ''}`)
        if (path.includes('{tenant}')) {
          addReads(`${path}, of no store`, (n) =>
            path.replace('{tenant}', `no-store-${n}`).replace(/\{\w+\}/g, 'none'),
          )
        }
      }
    }
  }
  for (const path of ['/', '/docs', '/openapi.json', '/v1/unsubscribe/none', '/v1/none'])
    addReads(path, (n) => `${path}?n=${n}`)
  add(
    'a merchant route with keys that are none',
    many(() => ({
      method: 'GET',
      url: `${url}/v1/merchant/orders`,
      headers: { authorization: `Bearer fdk_${randomUUID()}` },
    })),
  )
  return floods
}

/** Queries that make every request of a route another one. */
const QUERIES: Readonly<Record<string, (n: number) => string>> = {
  '/v1/resolve': (n) => `?hostname=host-${n}.example`,
  '/v1/preview-resolve': (n) => `?token=fdpv_${n}`,
  '/v1/tenants/{tenant}/catalog/products': (n) => `?after=&limit=${1 + (n % 100)}`,
  '/v1/tenants/{tenant}/catalog/collections/{slug}': (n) => `?after=&limit=${1 + (n % 100)}`,
  '/v1/tenants/{tenant}/catalog/search': (n) => `?q=soap%20${n}`,
  '/v1/tenants/{tenant}/catalog/sitemap': (n) => `?part=${1 + n}`,
}

const ACCOUNT = { email: 'flood-#@flood.example', password: 'a password that is wrong' }

const BODIES: Readonly<Record<string, object>> = {
  '/v1/identity/login': ACCOUNT,
  '/v1/identity/signup': { ...ACCOUNT, name: 'Flood' },
  '/v1/identity/password/forgot': { email: ACCOUNT.email },
  '/v1/identity/password/reset': { token: 'none', password: ACCOUNT.password },
}
