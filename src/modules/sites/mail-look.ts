import type { Db } from '../../db/database.ts'
import { assetUrl, parseAssetRef } from '../media/service.ts'
import type { Store } from '../stores/schema.ts'
import { asLine, brandOf } from './brand.ts'
import type { Content, MailLook, MailStore } from './mail-content.ts'
import { renderHtml } from './mail-html.ts'
import { renderText } from './mail-text.ts'

/** Loads how a store looks in its mails and on the platform's pages for its readers: name, logo and colours. */

export interface LookDeps {
  /** Returns the address of a store's storefront, without a path; null where it is not known. */
  storefrontUrl(store: Pick<Store, 'tenant_ref' | 'primary_hostname'>): string | null
  /** The base of the addresses of images; null where images come from the shop. */
  assetBase: string | null
}

/** A store with the address that its readers answer to. */
export type StoreLook = MailStore & { email: string | null }

export async function loadStoreLook(deps: LookDeps, db: Db, store: Store): Promise<StoreLook> {
  const brand = await brandOf(db, store.activeVersion)
  const url = deps.storefrontUrl(store)
  return {
    name: brand.name ?? asLine(store.display_name) ?? store.tenant_ref,
    email: brand.email,
    url,
    logoUrl: ownAsset(deps, db, url, brand.logoRef),
    colours: brand.colours,
    darkColours: brand.darkColours,
  }
}

/** Returns the address of an asset of the store itself; null for any other. */
export function ownAsset(
  { assetBase }: LookDeps,
  db: Db,
  storefrontUrl: string | null,
  ref: string | null,
): string | null {
  if (ref === null || parseAssetRef(db.tenant, ref) === null) return null
  return assetUrl(assetBase ?? storefrontUrl, ref)
}

/** Writes a mail in the look of its store, as both HTML and text. */
export const writeBranded = (look: MailLook, content: Content) => ({
  subject: content.subject,
  html: renderHtml(look, content),
  text: renderText(look, content),
})
