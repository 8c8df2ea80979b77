import type { FastifyRequest } from 'fastify'
import type { Database, TenantDb } from '../db/database.ts'
import { ApiError } from '../errors.ts'
import type { Owner } from '../kernel/owner.ts'
import { type Scope, satisfies } from '../kernel/scopes.ts'
import { digestEquals, sha256 } from '../kernel/tokens.ts'
import type { Actor } from '../platform/audit.ts'
import type { App, Plane, Routes } from './route.ts'

/** What a checked merchant key stands for. */
export interface Merchant {
  tenant: string
  credentialId: string
  scopes: readonly Scope[]
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Merchant plane: the key's store, or the owner's where a route takes a session too. */
    merchant: Merchant
    owner: Owner | null
    /** The store's data: the key's on the merchant plane, the path's elsewhere. */
    db: TenantDb
    actor: Actor
  }
}

export interface Limits {
  attempt(caller: string): Promise<void>
  gate(caller: string): Promise<void>
  failure(caller: string): Promise<void>
  wager(caller: string): Promise<void>
  forgive(caller: string): Promise<void>
}

export interface GuardDeps {
  limits: Limits
  callerOf(ip: string): string
  database: Database
  checkKey(key: string): Promise<Merchant | null>
  checkSession(token: string): Promise<Owner | null>
  /** Throws `unknown_tenant` unless there is such a store. */
  requireStore(db: TenantDb): Promise<void>
  operatorTokens: readonly string[]
  storefrontTokens: readonly string[]
  /** What the storefront of this same process sends in place of the token. */
  ownToken: string
}

type Guard = (request: FastifyRequest) => Promise<void>

/** Registers routes under a plane: the plane's guard runs before anything is read from the caller. */
export const onPlane = (plane: Plane, guard: Guard | null, routes: readonly Routes[]): Routes =>
  async function planeRoutes(app: App) {
    app.addHook('onRoute', (route) => {
      route.config = { ...route.config, plane }
    })
    if (guard !== null) app.addHook('onRequest', guard)
    for (const add of routes) await add(app)
  }

/** What the guards put on a request. Nothing is there until one has. */
export function decorateRequests(app: App): void {
  const unset = undefined as never
  app.decorateRequest('merchant', unset)
  app.decorateRequest('owner', null)
  app.decorateRequest('db', unset)
  app.decorateRequest('actor', unset)
}

export function createGuards(deps: GuardDeps) {
  const isOperator = tokenCheck(deps.operatorTokens)
  const isStorefront = tokenCheck([...deps.storefrontTokens, deps.ownToken])
  const isOwn = tokenCheck([deps.ownToken])
  const admit = (request: FastifyRequest, check: Check, caller?: string) =>
    admitCaller(deps, request, check, caller)

  const merchant: Guard = async (request) => {
    const { scope, orOwner } = request.routeOptions.config
    const bySession = orOwner === true && isSession(request)
    if (bySession) await owner(request)
    else await admit(request, () => enterByKey(deps, request))
    if (bySession || scope === 'any') return
    if (scope === undefined) throw new ApiError('forbidden')
    if (satisfies(request.merchant.scopes, scope)) return
    throw new ApiError('forbidden', {
      message: `The key lacks the scope ${scope}. Use a key that has it.`,
    })
  }

  const owner: Guard = (request) => admit(request, () => enterAsOwner(deps, request))

  const operator: Guard = async (request) => {
    await admit(request, async () => isOperator(header(request, 'x-operator-token')))
    request.actor = actor(request, 'operator')
    await enterStoreOfPath(deps, request)
  }

  const storefront: Guard = async (request) => {
    const token = header(request, 'x-storefront-token')
    await admit(request, async () => isStorefront(token), isOwn(token) ? OWN_STOREFRONT : undefined)
    request.actor = actor(request, 'storefront')
    await enterStoreOfPath(deps, request)
  }

  return { merchant, owner, operator, storefront, limited: limitFailures(deps) }
}

/** For attempts on public routes: a login, a sign-up. What is refused counts against the caller. */
const limitFailures =
  ({ limits, callerOf }: GuardDeps) =>
  async <T>(request: FastifyRequest, attempt: () => Promise<T>): Promise<T> => {
    const caller = callerOf(request.ip)
    await limits.wager(caller)
    try {
      const result = await attempt()
      await limits.forgive(caller)
      return result
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500) await limits.forgive(caller)
      throw error
    }
  }

type Check = () => Promise<boolean>

/** No address: whoever fails from that of this machine must not shut the process's own shop. */
const OWN_STOREFRONT = 'own storefront'

/**
 * The one way in. On `/v1/my/*` every attempt counts; elsewhere only failures do, so that a busy
 * merchant is never throttled by its own success. Either way the limiter is asked first.
 */
async function admitCaller(
  deps: GuardDeps,
  request: FastifyRequest,
  check: Check,
  caller = deps.callerOf(request.ip),
) {
  const countsAll = request.routeOptions.url?.startsWith('/v1/my/') ?? false
  await (countsAll ? deps.limits.attempt(caller) : deps.limits.gate(caller))
  if (await check()) return
  if (!countsAll) await deps.limits.failure(caller)
  throw new ApiError('unauthorized')
}

async function enterByKey(deps: GuardDeps, request: FastifyRequest): Promise<boolean> {
  const found = await knownOr503(deps.checkKey(bearer(request)))
  if (found === null) return false
  request.merchant = found
  request.db = deps.database.tenant(found.tenant)
  request.actor = actor(request, `merchant_key:${found.credentialId}`)
  return true
}

async function enterAsOwner(deps: GuardDeps, request: FastifyRequest): Promise<boolean> {
  const cookie = sessionCookie(request)
  const token = bearer(request) || cookie
  const found = await knownOr503(deps.checkSession(token))
  if (found === null) return false
  // A browser sends cookies by itself, so a write must also carry what only our own pages can set.
  const writes = request.method !== 'GET' && request.method !== 'HEAD'
  if (token === cookie && writes && request.headers['x-fd-csrf'] === undefined) {
    throw new ApiError('csrf_required')
  }
  request.owner = found
  request.actor = actor(request, `owner:${found.id}`)
  return true
}

/** Operator and storefront routes name their store in the path. */
async function enterStoreOfPath(deps: GuardDeps, request: FastifyRequest) {
  const { tenant } = request.params as { tenant?: string }
  if (tenant === undefined) return
  request.db = deps.database.tenant(tenant)
  await deps.requireStore(request.db)
}

/** A check that could not be made is no refusal. */
async function knownOr503<T>(check: Promise<T>): Promise<T> {
  try {
    return await check
  } catch (error) {
    throw new ApiError('auth_unavailable', { cause: error })
  }
}

const actor = (request: FastifyRequest, name: string): Actor => ({
  name,
  correlationId: request.id,
})

const header = (request: FastifyRequest, name: string) => {
  const value = request.headers[name]
  return typeof value === 'string' ? value : ''
}

const bearer = (request: FastifyRequest) =>
  /^Bearer ([\x21-\x7e]{1,4096})$/i.exec(header(request, 'authorization'))?.[1] ?? ''

const SESSION_COOKIE = /(?:^|;\s*)__Host-fd_session=([^;\s]{1,200})/

const sessionCookie = (request: FastifyRequest) =>
  SESSION_COOKIE.exec(header(request, 'cookie'))?.[1] ?? ''

/** A caller that names no key of ours may still be the owner. */
const isSession = (request: FastifyRequest) => !bearer(request).startsWith('fdk_')

/** Compares digests, so that neither length nor content shows in the time it takes. */
function tokenCheck(accepted: readonly string[]) {
  const digests = accepted.map(sha256)
  return (given: string): boolean => {
    const sent = sha256(given)
    return digests.filter((each) => digestEquals(each, sent)).length > 0
  }
}

/** The owner plane's caller. The guard has put it there. */
export function requireOwner({ owner }: FastifyRequest): Owner {
  if (owner === null) throw new ApiError('unauthorized')
  return owner
}
