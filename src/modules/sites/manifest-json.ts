import type { ShownPage } from '../../db/list.ts'
import type { FullVersion, VersionRow } from './schema.ts'
import type { FoundSite } from './service.ts'

/**
 * Builds JSON answers around the original text of a manifest. Parsing and writing it again would
 * change the order of its keys and the spelling of its numbers.
 */

/** A JSON object whose last member is the manifest, split before the manifest. */
export interface ManifestJson {
  head: string
  /** The manifest and the closing bracket. They are the same in every answer with this manifest. */
  rest: string
}

function withManifest(members: object, manifest: string): ManifestJson {
  const text = JSON.stringify(members).slice(0, -1)
  return { head: `${text}${text === '{' ? '' : ','}"manifest":`, rest: `${manifest}}` }
}

export const toText = ({ head, rest }: ManifestJson): string => head + rest

export const liveSite = ({ store, version }: FoundSite): ManifestJson =>
  withManifest({ tenant_ref: store.tenant_ref, version: version.version }, version.manifest)

const resolved = ({ store, version, addOns }: FoundSite) => ({
  tenantRef: store.tenant_ref,
  storeNumber: store.store_number,
  status: store.status,
  manifestVersion: version.version,
  ...(store.sandbox && { sandbox: true }),
  ...(addOns.length > 0 && { addOns }),
})

/** Builds the answer of a resolve. A host other than the primary one gets a redirect to it. */
export function resolvedSite(found: FoundSite, hostname: string | null): ManifestJson {
  const canonicalHostname = found.store.primary_hostname
  const isOtherHost =
    hostname !== null && canonicalHostname !== null && hostname !== canonicalHostname
  const redirect = isOtherHost ? `https://${canonicalHostname}` : null
  const members = { ...resolved(found), hostname, canonicalHostname, redirect }
  return withManifest(members, found.version.manifest)
}

export const resolvedPreview = (found: FoundSite, expiresAt: string): ManifestJson =>
  withManifest(
    { ...resolved(found), preview: { version: found.version.version, expiresAt } },
    found.version.manifest,
  )

interface Overview {
  active: FullVersion | null
  draft: FullVersion | null
  /** One page of the versions, and which page it is. */
  versions: readonly VersionRow[]
  shown: ShownPage
  newest: number
  activeVersion: number | null
}

export function siteOverview(overview: Overview): string {
  const { active, draft, versions, shown, newest, activeVersion } = overview
  const rows = versions.map((row) => ({ ...row, active: row.version === activeVersion }))
  return [
    `{"active":${active === null ? 'null' : toText(versionText(active))}`,
    `"draft":${draft === null ? 'null' : toText(versionText(draft, { createdAt: draft.createdAt }))}`,
    `"versions":${JSON.stringify(rows)}`,
    `"versions_total":${newest}`,
    JSON.stringify(shown).slice(1),
  ].join(',')
}

/** A version with its manifest, and whether it is the published one. */
export const siteVersion = (
  { manifest, ...row }: FullVersion,
  activeVersion: number | null,
): string => toText(withManifest({ ...row, active: row.version === activeVersion }, manifest))

const versionText = (
  { version, manifest, rowHash }: FullVersion,
  more: object = {},
): ManifestJson => withManifest({ version, rowHash, ...more }, manifest)
