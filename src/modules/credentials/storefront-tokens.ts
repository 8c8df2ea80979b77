import type { Database, Db, TenantDb } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { Page } from '../../kernel/page.ts'
import { isTenantRef, isUuid } from '../../kernel/schema.ts'
import { randomBase62, sha256 } from '../../kernel/tokens.ts'
import * as audit from '../../platform/audit.ts'
import type { CachedResponse } from '../../platform/cached-response.ts'
import { type LiveCache, notifyChanged } from '../../platform/live-cache.ts'
import * as stores from '../stores/service.ts'
import { refuse } from './errors.ts'
import * as queries from './storefront-token-queries.ts'
import type { NewStorefrontToken } from './storefront-token-schema.ts'

/**
 * Tokens of a store. A storefront of a merchant sends one in place of the platform's token, and reaches that store
 * alone.
 */

/** More storefronts than a store has, with room to change their tokens one by one. */
const TOKENS_MAX = 20

const TOKEN = /^fdst_[0-9A-Za-z]{43}$/

export async function create(db: TenantDb, actor: audit.Actor, { label }: NewStorefrontToken) {
  const token = `fdst_${randomBase62(32)}`
  const row = { label, hash: sha256(token), hint: token.slice(-4) }
  const created = await db.transaction('storefront tokens: create', async (tx) => {
    // The lock serialises two requests, so that both are counted.
    await stores.lock(tx)
    const used = await queries.countTokens(tx)
    if (used >= TOKENS_MAX) {
      const body = { limit: 'storefront_tokens', max: TOKENS_MAX, used }
      throw new ApiError('limit_reached', { body })
    }
    const inserted = await queries.insertToken(tx, row)
    await audit.record(tx, actor, {
      action: 'storefront_token.created',
      entity: `storefront_token:${inserted.id}`,
      after: { label, hint: row.hint },
    })
    return inserted
  })
  return { storefront_token: { ...created, token } }
}

export async function list(db: Db, page: Page) {
  const { rows, shown } = await queries.listTokens(db, page)
  return { storefront_tokens: rows, ...shown }
}

/** Deletes a token. Every process refuses it as soon as it is notified. */
export function remove(db: TenantDb, actor: audit.Actor, id: string) {
  return db.transaction('storefront tokens: delete', async (tx) => {
    const removed = isUuid(id) ? await queries.deleteToken(tx, id) : null
    if (removed === null) throw refuse('storefront_token_not_found')
    await audit.record(tx, actor, {
      action: 'storefront_token.deleted',
      entity: `storefront_token:${removed.id}`,
      before: { label: removed.label, hint: removed.hint },
    })
    await notifyChanged(tx)
    return { storefront_token: removed }
  })
}

/** The owner of a token: the store at hand, another store, or none. */
export type TokenOwner = 'own' | 'other' | 'none'

/** Thrown inside of a load, so that only a token of the store at hand is cached. */
class NotOwnError extends Error {
  readonly owner: Exclude<TokenOwner, 'own'>
  constructor(owner: NotOwnError['owner']) {
    super('the token is not of this store')
    this.owner = owner
  }
}

/** The cached answer of a check says only that the token belongs to the store. */
const OWN: CachedResponse = { status: 200, headers: {}, body: Buffer.alloc(0) }

/**
 * Returns a check of a token for a store. A token of the store is kept in the live cache, so that a request costs no
 * statement; the cache drops it with the notification of its deletion, and is not used while notifications cannot be
 * relied on.
 */
export function openTokenCheck({ database, cache }: { database: Database; cache: LiveCache }) {
  const ownerOf = async (hash: Buffer, tenant: string): Promise<TokenOwner> => {
    const found = await queries.findTenant(database.directory, hash)
    if (found === null) return 'none'
    return found.tenant_ref === tenant ? 'own' : 'other'
  }
  return async (token: string, tenant: string): Promise<TokenOwner> => {
    if (!TOKEN.test(token)) return 'none'
    const hash = sha256(token)
    if (!isTenantRef(tenant)) return ownerOf(hash, tenant)
    try {
      await cache.read(tenant, `storefront token ${hash.toString('base64url')}`, async () => {
        const owner = await ownerOf(hash, tenant)
        if (owner !== 'own') throw new NotOwnError(owner)
        return OWN
      })
      return 'own'
    } catch (error) {
      if (error instanceof NotOwnError) return error.owner
      throw error
    }
  }
}
