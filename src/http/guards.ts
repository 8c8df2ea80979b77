import type { FastifyRequest } from 'fastify'
import type { Database, TenantDb } from '../db/database.ts'
import type { Caller } from '../db/store-shares.ts'
import { ApiError } from '../errors.ts'
import type { Owner } from '../kernel/owner.ts'
import { type Scope, satisfies } from '../kernel/scopes.ts'
import { digestEquals, sha256 } from '../kernel/tokens.ts'
import type { Actor } from '../platform/audit.ts'
import { countHeaders } from './repeated-headers.ts'
import type { App, Plane, Routes } from './route.ts'

/** The store and scopes of a checked merchant key. */
export interface Merchant {
  tenant: string
  credentialId: string
  scopes: readonly Scope[]
}

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Merchant plane: the store of the key, or of the owner where a route accepts a session too.
     */
    merchant: Merchant
    owner: Owner | null
    /** The store's data: by the key on the merchant plane, by the path elsewhere. */
    db: TenantDb
    actor: Actor
  }
}

export interface Limits {
  countAttempt(caller: string): Promise<void>
  checkFailures(caller: string): Promise<void>
  countFailure(caller: string): Promise<void>
  countFailureAhead(caller: string): Promise<void>
  uncountFailure(caller: string): Promise<void>
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
  /** Says whether a token is one of the store that the path names. */
  checkStoreToken(token: string, tenant: string): Promise<'own' | 'other' | 'none'>
  /** The token that the storefront of this same process sends instead of the storefront token. */
  ownToken: string
}

export type Guard = (request: FastifyRequest) => Promise<void>

/** Runs an attempt, and counts a failure of it against the caller. */
export type Limited = <T>(request: FastifyRequest, attempt: () => Promise<T>) => Promise<T>

/** Registers routes under a plane. Its guard runs before anything is read from the request. */
export const onPlane = (plane: Plane, guard: Guard | null, routes: readonly Routes[]): Routes =>
  async function planeRoutes(app: App) {
    app.addHook('onRoute', (route) => {
      route.config = { ...route.config, plane }
    })
    if (guard !== null) app.addHook('onRequest', guard)
    for (const add of routes) await add(app)
  }

/** Declares what the guards set on a request. It is unset before a guard has run. */
export function decorateRequests(app: App): void {
  const unset = undefined as never
  app.decorateRequest('merchant', unset)
  app.decorateRequest('owner', null)
  app.decorateRequest('db', unset)
  app.decorateRequest('actor', unset)
  app.decorateRequest('leavePace', null)
  app.decorateRequest('reader', '')
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
    else await admit(request, () => authenticateByKey(deps, request))
    if (bySession || scope === 'any') return
    if (scope === undefined) throw new ApiError('forbidden')
    if (satisfies(request.merchant.scopes, scope)) return
    throw new ApiError('forbidden', {
      message: `The key lacks the scope ${scope}. Use a key that has it.`,
    })
  }

  const owner: Guard = (request) => admit(request, () => authenticateOwner(deps, request))

  const operator: Guard = async (request) => {
    await admit(request, async () => isOperator(header(request, 'x-operator-token')))
    request.actor = actor(request, 'operator')
    await openStoreOfPath(deps, request)
  }

  const storefront: Guard = async (request) => {
    const token = header(request, 'x-storefront-token')
    const check = async () => isStorefront(token) || (await isOfStore(deps, request, token))
    await admit(request, check, isOwn(token) ? OWN_STOREFRONT : undefined)
    request.actor = actor(request, 'storefront')
    await openStoreOfPath(deps, request)
  }

  return { merchant, owner, operator, storefront, limited: limitFailures(deps) }
}

/** Limits attempts on public routes, such as logins and sign-ups: each refusal counts against the caller. */
const limitFailures =
  ({ limits, callerOf }: GuardDeps): Limited =>
  async (request, attempt) => {
    const caller = callerOf(request.ip)
    await limits.countFailureAhead(caller)
    try {
      const result = await attempt()
      await limits.uncountFailure(caller)
      return result
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500) await limits.uncountFailure(caller)
      throw error
    }
  }

type Check = () => Promise<boolean>

/**
 * The storefront of this process is counted under a name and not an address: failures of other
 * programs on this machine must not block it.
 */
const OWN_STOREFRONT = 'own storefront'

/**
 * Checks the limits, then the credential. On `/v1/my/*` every attempt counts; elsewhere only
 * failures do, so that a busy merchant is never limited for successful requests. The limiter always
 * comes first (decision 0006).
 */
async function admitCaller(
  deps: GuardDeps,
  request: FastifyRequest,
  check: Check,
  caller = deps.callerOf(request.ip),
) {
  const countsAll = request.routeOptions.url?.startsWith('/v1/my/') ?? false
  await (countsAll ? deps.limits.countAttempt(caller) : deps.limits.checkFailures(caller))
  if (await check()) return
  if (!countsAll) await deps.limits.countFailure(caller)
  throw new ApiError('unauthorized')
}

async function authenticateByKey(deps: GuardDeps, request: FastifyRequest): Promise<boolean> {
  const found = await knownOr503(deps.checkKey(bearer(request)))
  if (found === null) return false
  request.merchant = found
  const caller: Caller = { lane: 'known', name: found.credentialId }
  request.db = deps.database.tenant(found.tenant, caller)
  request.actor = actor(request, `merchant_key:${found.credentialId}`)
  return true
}

async function authenticateOwner(deps: GuardDeps, request: FastifyRequest): Promise<boolean> {
  const cookie = sessionCookie(request)
  const token = bearer(request) || cookie
  const found = await knownOr503(deps.checkSession(token))
  if (found === null) return false
  // A browser sends cookies with requests of other sites too, so a write also needs a header that only our own pages
  // can set.
  const writes = request.method !== 'GET' && request.method !== 'HEAD'
  if (token === cookie && writes && request.headers['x-fd-csrf'] === undefined) {
    throw new ApiError('csrf_required')
  }
  request.owner = found
  request.actor = actor(request, `owner:${found.id}`)
  return true
}

/**
 * Opens the store that the path names, on operator and storefront routes. A route of these planes that needs an
 * Idempotency-Key moves a shopper's money, so it goes before the store's other work. This is not so on the merchant
 * plane: a merchant with a key could take the database from other stores by such calls.
 */
async function openStoreOfPath({ database, requireStore }: GuardDeps, request: FastifyRequest) {
  const { tenant } = request.params as { tenant?: string }
  if (tenant === undefined) return
  const isPayment = request.routeOptions.config.idempotent === true
  const caller: Caller = { lane: 'known', name: request.actor.name }
  request.db = isPayment ? database.tenantForMoney(tenant) : database.tenant(tenant, caller)
  await requireStore(request.db)
}

/**
 * Whether a token is one of the store that the path names. With the token of another store, the named store is answered
 * as if it did not exist.
 */
async function isOfStore(
  { checkStoreToken, limits, callerOf }: GuardDeps,
  { params, ip }: FastifyRequest,
  token: string,
): Promise<boolean> {
  const { tenant } = params as { tenant?: string }
  if (tenant === undefined) return false
  const owner = await knownOr503(checkStoreToken(token, tenant))
  if (owner !== 'other') return owner === 'own'
  // Nothing else limits such tries: the token is looked up each time, and its caller waits for no store.
  await limits.countFailure(callerOf(ip))
  throw new ApiError('unknown_tenant')
}

/** Answers 503 for a check that could not run, since such a failure is not a refusal. */
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
const SESSION_NAMES = /(?:^|;)\s*__Host-fd_session\s*=/g

/**
 * Returns the session of a browser; empty without one. Two sessions, or two Cookie headers, which Node joins, are
 * refused: a browser sends one, and a proxy before us may have checked the other.
 */
export function sessionCookie(request: FastifyRequest): string {
  const cookies = header(request, 'cookie')
  const sessions = cookies.match(SESSION_NAMES)?.length ?? 0
  if (sessions > 1 || countHeaders(request.raw.rawHeaders, 'cookie') > 1) {
    throw new ApiError('invalid_request')
  }
  return SESSION_COOKIE.exec(cookies)?.[1] ?? ''
}

/** Whether the caller shows a session: a caller without a merchant key may still be the owner. */
const isSession = (request: FastifyRequest) => !bearer(request).startsWith('fdk_')

/** Compares digests, so that the time taken reveals neither length nor content. */
export function tokenCheck(accepted: readonly string[]) {
  const digests = accepted.map(sha256)
  return (given: string): boolean => {
    const sent = sha256(given)
    return digests.filter((each) => digestEquals(each, sent)).length > 0
  }
}

/** Returns the owner who calls, whom the guard of the owner plane has set. */
export function requireOwner({ owner }: FastifyRequest): Owner {
  if (owner === null) throw new ApiError('unauthorized')
  return owner
}
