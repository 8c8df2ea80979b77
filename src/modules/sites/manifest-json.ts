import type { Store } from '../stores/schema.ts'
import type { FullVersion, VersionRow } from './schema.ts'

/**
 * Builds JSON answers around the original text of a manifest. Parsing and writing it again would
 * change the order of its keys and the spelling of its numbers.
 */

/** A JSON object whose last member is the manifest, split before the manifest. */
export interface ManifestJson {
  head: string
  /** The manifest and the closing bracket: the same in every answer with this manifest. */
  rest: string
}

function withManifest(members: object, manifest: string): ManifestJson {
  const text = JSON.stringify(members).slice(0, -1)
  return { head: `${text}${text === '{' ? '' : ','}"manifest":`, rest: `${manifest}}` }
}

export const toText = ({ head, rest }: ManifestJson): string => head + rest

export const liveSite = (store: Store, { version, manifest }: FullVersion): ManifestJson =>
  withManifest({ tenant_ref: store.tenant_ref, version }, manifest)

const resolved = (store: Store, version: FullVersion) => ({
  tenantRef: store.tenant_ref,
  storeNumber: store.store_number,
  status: store.status,
  manifestVersion: version.version,
  ...(store.sandbox && { sandbox: true }),
})

/** The answer of a resolve. A host other than the primary one gets a redirect to it. */
export function resolvedSite(
  store: Store,
  version: FullVersion,
  hostname: string | null,
): ManifestJson {
  const canonicalHostname = store.primary_hostname
  const isOtherHost =
    hostname !== null && canonicalHostname !== null && hostname !== canonicalHostname
  const redirect = isOtherHost ? `https://${canonicalHostname}` : null
  const members = { ...resolved(store, version), hostname, canonicalHostname, redirect }
  return withManifest(members, version.manifest)
}

export const resolvedPreview = (
  store: Store,
  version: FullVersion,
  expiresAt: string,
): ManifestJson =>
  withManifest(
    { ...resolved(store, version), preview: { version: version.version, expiresAt } },
    version.manifest,
  )

interface Overview {
  active: FullVersion | null
  draft: FullVersion | null
  versions: readonly VersionRow[]
  total: number
  activeVersion: number | null
}

export function siteOverview({ active, draft, versions, total, activeVersion }: Overview): string {
  const rows = versions.map((row) => ({ ...row, active: row.version === activeVersion }))
  return [
    `{"active":${active === null ? 'null' : toText(versionText(active))}`,
    `"draft":${draft === null ? 'null' : toText(versionText(draft, { createdAt: draft.createdAt }))}`,
    `"versions":${JSON.stringify(rows)}`,
    `"versions_total":${total}}`,
  ].join(',')
}

const versionText = (
  { version, manifest, rowHash }: FullVersion,
  more: object = {},
): ManifestJson => withManifest({ version, rowHash, ...more }, manifest)
