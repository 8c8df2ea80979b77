import { type Static, Type } from 'typebox'
import { Nullable, Shared, Timestamp } from '../../kernel/schema.ts'

/** The accepted content types and the file extension of each. */
export const EXTENSIONS = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'image/avif': 'avif',
  'image/svg+xml': 'svg',
  'font/woff2': 'woff2',
} as const

export type ContentType = keyof typeof EXTENSIONS
/** The types of images made of pixels, which a decoder reads. */
export type Raster = Exclude<ContentType, 'image/svg+xml' | 'font/woff2'>
export type Extension = (typeof EXTENSIONS)[ContentType]

export const CONTENT_TYPES = Object.keys(EXTENSIONS) as ContentType[]

/** The contract's limit of an upload, in bytes. */
export const ASSET_BYTES_MAX = 20 * 1_024 * 1_024
/** The limit of a font, in bytes. It is small because every page waits for its font. */
export const FONT_BYTES_MAX = 1_024 * 1_024

export const ALT_LENGTH_MAX = 1_000

/** An asset as the database stores it. */
export const AssetRow = Type.Object({
  sha256: Type.String(),
  extension: Type.Enum([...new Set(Object.values(EXTENSIONS))]),
  content_type: Type.Enum([...CONTENT_TYPES]),
  bytes: Type.Integer(),
  width: Nullable(Type.Integer()),
  height: Nullable(Type.Integer()),
  alt: Nullable(Type.String()),
  created_at: Timestamp,
})
export type AssetRow = Static<typeof AssetRow>

/** An asset with the state that only an upload needs. */
export const AssetState = Type.Object({
  ...AssetRow.properties,
  stored: Type.Boolean(),
  deleted: Type.Boolean(),
})

/** An asset as the API shows it. */
export const Asset = Shared(
  'Asset',
  Type.Object({
    asset_ref: Type.String({ description: '`asset:<tenant>/<sha256>.<ext>`' }),
    url: Nullable(
      Type.String({
        description: 'The public address. Null if the installation has none for assets.',
      }),
    ),
    sha256: Type.String({ description: 'The hash of the stored bytes, which have no metadata.' }),
    content_type: AssetRow.properties.content_type,
    bytes: Type.Integer(),
    width: Nullable(
      Type.Integer({ description: 'In pixels. Null for a font, and for an SVG without a size.' }),
    ),
    height: Nullable(Type.Integer()),
    alt: Nullable(Type.String()),
    created_at: Timestamp,
    deduped: Type.Boolean({
      description: 'True: the store already had an asset with these bytes.',
    }),
  }),
)
export type Asset = Static<typeof Asset>

export const NewUpload = Type.Object({
  filename: Type.Optional(Type.String({ maxLength: 255 })),
  content_type: Type.String({ maxLength: 100 }),
  data_base64: Type.String({ minLength: 1 }),
  alt: Type.Optional(Type.String({ maxLength: ALT_LENGTH_MAX })),
})

export const AssetPatch = Type.Object({
  alt: Nullable(Type.String({ maxLength: ALT_LENGTH_MAX })),
})

/** A product or a site version that uses an asset. */
export const AssetUse = Type.Object({
  kind: Type.Enum(['product', 'site']),
  id: Type.String({ description: 'The id of the product, or the number of the site version.' }),
})
export type AssetUse = Static<typeof AssetUse>

/** A resized copy of an asset (a row of `asset_forms`). */
export const ResizedImage = Type.Object({ form_sha256: Type.String(), bytes: Type.Integer() })
export type ResizedImage = Static<typeof ResizedImage>

/** An asset that can be removed, as the collector needs it. */
export const CollectableAsset = Type.Object({ sha256: Type.String(), extension: Type.String() })
export type CollectableAsset = Static<typeof CollectableAsset>
