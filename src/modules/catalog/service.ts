import { isViolationOf, mapViolations } from '../../db/constraints.ts'
import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { forHeavyRead } from '../../db/list.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import { LIST, type Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import type { Actor } from '../../platform/audit.ts'
import type { Finding } from '../health-claims/schema.ts'
import * as healthClaims from '../health-claims/service.ts'
import * as stores from '../stores/service.ts'
import { closeRequest } from './activation-requests.ts'
import type { ActivationWarning } from './activation-schema.ts'
import { listLiveWarnings } from './activation-warnings.ts'
import { refuse } from './errors.ts'
import { type ListPlace, writePlace } from './list-schema.ts'
import { keepPrice } from './price-history.ts'
import { listSaleVariants, listVariantNames } from './public-queries.ts'
import * as queries from './queries.ts'
import { recordChange } from './record-change.ts'
import {
  type FullProduct,
  type NewProduct,
  type NewVariant,
  type ProductPatch,
  type ProductRow,
  type ProductStatus,
  type SaleVariant,
  VARIANTS_PER_PRODUCT_MAX,
  type Variant,
  type VariantNames,
  type VariantOption,
  type VariantPatch,
} from './schema.ts'
import {
  optionsKey,
  type VariantContext,
  validateNewProduct,
  validateNewVariant,
  validateProductPatch,
  validateVariantPatch,
} from './validate.ts'

/** An archived product has no claim to its slug. */
export const SLUG_EXISTS = { products_slug: 'slug_exists' } as const
const SKU_EXISTS = { variants_sku: 'sku_exists' } as const

export async function create(db: TenantDb, actor: Actor, request: NewProduct) {
  const fields = validateNewProduct(request)
  const product = await db.transaction('catalog: create product', async (tx) => {
    const row = await mapViolations(queries.insertProduct(tx, fields), SLUG_EXISTS, refuse)
    await recordChange(tx, actor, { action: 'product.created', entity: entityOf(row), after: row })
    return { ...row, images: [], variants: [], activation_request: null }
  })
  return withWarnings(product)
}

/** Updates a product. Only the members that are sent change. */
export async function update(db: TenantDb, actor: Actor, id: string, patch: ProductPatch) {
  const product = await change(db, 'catalog: update product', id, async (tx, before) => {
    const { has_gift_card: hasGiftCard } = await queries.hasGiftCard(tx, id)
    const fields = validateProductPatch(before, patch, { hasGiftCard })
    const row = await mapViolations(queries.updateProduct(tx, id, fields), SLUG_EXISTS, refuse)
    await recordChange(tx, actor, {
      action: 'product.updated',
      entity: entityOf(row),
      before,
      after: row,
    })
  })
  return withWarnings(product)
}

const withWarnings = async (product: FullProduct) => ({
  product,
  warnings: await findHealthClaims(product),
  activation_warnings: listLiveWarnings(product),
})

/** Archives a product. Only an operator can undo it. A repeated call is harmless. */
export function archive(db: TenantDb, actor: Actor, id: string) {
  return change(db, 'catalog: archive product', id, async (tx, before) => {
    if (before.status === 'archived') return
    const after = await queries.updateStatus(tx, id, 'archived')
    await recordChange(tx, actor, {
      action: 'product.archived',
      entity: entityOf(after),
      before,
      after,
    })
    await closeRequest(tx, actor, after, { status: 'withdrawn' })
  })
}

/** Refuses an act that this status does not allow. */
export const refuseTransition = (status: ProductStatus) =>
  new ApiError('invalid_transition', { body: { current_status: status, allowed: [] } })

export async function get(db: Db, id: string): Promise<FullProduct> {
  const product = isUuid(id) ? await queries.findProduct(db, id) : null
  if (product === null) throw refuse('product_not_found')
  return product
}

/** The bounds of the merchant's list of products. */
export const MERCHANT_LIST = {
  /** A list of at most this many products and bytes is answered whole, unless a page is asked for. */
  wholeMax: 5_000,
  wholeBytes: 8 * 1_024 * 1_024,
  /** The first page of a larger list. */
  pageLimit: LIST.limitMax,
  /** Products are counted up to this number. */
  countMax: 10_000,
}

export interface ProductPage extends Omit<Page, 'after'> {
  after: ListPlace | null
}

/**
 * Lists the store's products, newest first. Without a page it has all of them, up to the bounds of
 * a whole list, and else the first page.
 */
export async function list(
  db: Db,
  filters: queries.ProductFilters,
  page: ProductPage | null,
  bounds = MERCHANT_LIST,
) {
  const requested = page ?? { after: null, limit: bounds.wholeMax, offset: 0 }
  // One more than the page shows, to know whether another page follows.
  const range = { ...requested, limit: requested.limit + 1 }
  const { ids, total } = await queries.chooseProducts(
    forHeavyRead(db),
    filters,
    range,
    bounds.countMax + 1,
  )
  const isWhole = page === null && ids.length <= bounds.wholeMax
  const pageLimit = page?.limit ?? bounds.pageLimit
  const shownIds = isWhole ? ids : ids.slice(0, pageLimit)
  const found = await queries.listProducts(db, shownIds, bounds.wholeBytes)
  const isCut = found.length < shownIds.length
  const shown = isWhole && isCut ? found.slice(0, pageLimit) : found
  const hasMore = isCut || shownIds.length < ids.length
  const last = shown.at(-1)
  const seen = requested.offset + shown.length
  return {
    products: shown.map(({ at: _, ...product }) => product),
    // Never less than the rows that are still to come, so that a loop over `offset < total` reads everything.
    total: Math.max(total, hasMore ? seen + 1 : 0),
    ...(total > bounds.countMax && { total_is_estimate: true as const }),
    limit: isWhole && !isCut ? shown.length : pageLimit,
    offset: requested.offset,
    ...(hasMore && last !== undefined && { next_after: writePlace(last) }),
  }
}

export const entityOf = ({ id }: Pick<ProductRow, 'id'>) => `product:${id}`

/** Changes a product under its lock, so that changes run one after the other. Returns the product after it. */
export function change(
  db: TenantDb,
  name: string,
  id: string,
  apply: (tx: Tx, before: ProductRow) => Promise<unknown>,
): Promise<FullProduct> {
  return db.transaction(name, async (tx) => {
    await apply(tx, await lock(tx, id))
    return get(tx, id)
  })
}

export async function lock(tx: Tx, id: string): Promise<ProductRow> {
  const product = isUuid(id) ? await queries.lockProduct(tx, id) : null
  if (product === null) throw refuse('product_not_found')
  return product
}

/**
 * Finds the health claims in a product's text. They are advice only: if the scan cannot run, this returns
 * null and the product is stored all the same.
 */
export async function findHealthClaims(
  { name, description }: Pick<ProductRow, 'name' | 'description'>,
  scanText = healthClaims.scanText,
): Promise<Finding[] | null> {
  try {
    const texts = Object.entries({ name, description: description ?? '' })
    const scans = texts.map(async ([member, text]) => {
      const { findings } = await scanText(text)
      return findings.map((finding) => ({ ...finding, path: `/${member}` }))
    })
    return (await Promise.all(scans)).flat()
  } catch {
    return null
  }
}

export function createVariant(db: TenantDb, actor: Actor, productId: string, request: NewVariant) {
  return db.transaction('catalog: create variant', async (tx) => {
    const product = await lock(tx, productId)
    if (product.status === 'archived') throw refuseTransition(product.status)
    const { currency: storeCurrency } = await stores.get(tx)
    const context = await contextOf(tx, product, request)
    const fields = validateNewVariant(request, { ...context, storeCurrency })
    await requireVariantRoom(tx, productId)
    await requireOwnOptions(tx, productId, fields.options, null)
    const variant = await mapViolations(
      queries.insertVariant(tx, productId, fields),
      SKU_EXISTS,
      refuse,
    )
    const entity = `variant:${variant.id}`
    await Promise.all([
      queries.touchProduct(tx, productId),
      recordChange(tx, actor, { action: 'variant.created', entity, after: variant }),
    ])
    return withProductWarnings(tx, variant)
  })
}

interface WrittenVariant {
  variant: Variant
  activation_warnings: ActivationWarning[]
}

const withProductWarnings = async (tx: Tx, variant: Variant): Promise<WrittenVariant> => ({
  variant,
  activation_warnings: listLiveWarnings(await queries.getShownProduct(tx, variant.product_id)),
})

/** Refuses a variant beyond the limit: every reader of a product gets all of its variants. */
async function requireVariantRoom(tx: Tx, productId: string): Promise<void> {
  const { used } = await queries.countVariants(tx, productId, VARIANTS_PER_PRODUCT_MAX)
  if (used < VARIANTS_PER_PRODUCT_MAX) return
  throw new ApiError('limit_reached', {
    message: `A product has at most ${VARIANTS_PER_PRODUCT_MAX} variants. Archive one first.`,
    body: { limit: 'variants_per_product', max: VARIANTS_PER_PRODUCT_MAX, used },
  })
}

/** Refuses options that another variant of the product has: a shopper could not choose between them. */
async function requireOwnOptions(
  tx: Tx,
  productId: string,
  options: readonly VariantOption[],
  exceptId: string | null,
): Promise<void> {
  if (options.length === 0) return
  const key = optionsKey(options)
  const others = await queries.listOptions(tx, productId, exceptId)
  if (others.some((other) => optionsKey(other.options) === key)) throw refuse('options_exist')
}

async function contextOf(
  tx: Tx,
  { id, is_subscription }: ProductRow,
  { image_asset_ref }: Pick<VariantPatch, 'image_asset_ref'>,
): Promise<VariantContext> {
  const named = image_asset_ref ?? null
  const ownsImage = named !== null && (await queries.hasImage(tx, id, named)).has_image
  return { is_subscription, ownsImage }
}

interface VariantPath {
  id: string
  variantId: string
}

export function updateVariant(db: TenantDb, actor: Actor, path: VariantPath, patch: VariantPatch) {
  return changeVariant(db, 'catalog: update variant', path, async (tx, before, product) => {
    const fields = validateVariantPatch(before, patch, await contextOf(tx, product, patch))
    if (patch.options !== undefined && before.archived_at === null) {
      await requireOwnOptions(tx, before.product_id, fields.options, before.id)
    }
    const lowest = await keepPrice(tx, product, before, fields)
    const after = await mapViolations(
      queries.updateVariant(tx, before.id, fields, lowest),
      SKU_EXISTS,
      refuse,
    ).catch((error) => {
      throw isViolationOf(error, 'variants_gift_card_stock') ? stockIsCounted() : error
    })
    const entity = `variant:${after.id}`
    await recordChange(tx, actor, { action: 'variant.updated', entity, before, after })
    return after
  })
}

const stockIsCounted = () =>
  invalidBody('gift_card', 'must be false while the stock of the variant is counted')

/** Archives a variant for good. A repeated call is harmless. */
export function archiveVariant(db: TenantDb, actor: Actor, path: VariantPath) {
  return changeVariant(db, 'catalog: archive variant', path, async (tx, before) => {
    if (before.archived_at !== null) return before
    const after = await queries.archiveVariant(tx, before.id)
    const entity = `variant:${after.id}`
    await recordChange(tx, actor, { action: 'variant.archived', entity, before, after })
    return after
  })
}

function changeVariant(
  db: TenantDb,
  name: string,
  { id, variantId }: VariantPath,
  apply: (tx: Tx, before: Variant, product: ProductRow) => Promise<Variant>,
): Promise<WrittenVariant> {
  return db.transaction(name, async (tx) => {
    const product = isUuid(id) ? await queries.lockProduct(tx, id) : null
    const found = isUuid(variantId) ? await queries.findVariant(tx, variantId) : null
    if (product === null || found === null || found.product_id !== product.id) {
      throw new ApiError('variant_not_found')
    }
    const after = await apply(tx, found, product)
    await queries.touchProduct(tx, product.id)
    return withProductWarnings(tx, after)
  })
}

/**
 * Whether a variant is on sale, or can be on sale later: neither it nor its product is archived, which a merchant
 * cannot undo.
 */
export const isUnarchivedVariant = async (db: Db, id: string): Promise<boolean> =>
  isUuid(id) && (await queries.hasUnarchivedVariant(db, id)).is_unarchived

/** Finds the names of a variant, also once it is archived. */
export const findVariantName = queries.findVariantName

/**
 * Lists the variants among these that a cart may contain: not archived, and of an active product. The order is
 * undefined, and variants that cannot be bought are missing.
 */
export async function variantsForSale(db: Db, ids: readonly string[]): Promise<SaleVariant[]> {
  const known = ids.filter(isUuid)
  return known.length === 0 ? [] : listSaleVariants(db, known)
}

/** The names of variants, also of those that are no longer sold, by id. */
export async function variantNames(
  db: Db,
  ids: readonly string[],
): Promise<ReadonlyMap<string, VariantNames>> {
  const found = ids.length === 0 ? [] : await listVariantNames(db, ids)
  return new Map(found.map(({ variant_id, ...names }) => [variant_id, names]))
}
