import { type TSchema, Type } from 'typebox'

/**
 * The section types that every storefront renders, and the props of each. A manifest may contain
 * any other type: it is stored, with a warning that a storefront may not show it.
 */

const Text = Type.String()
const Link = Type.Object({ label: Text, href: Text })
const AssetRef = Type.String({ description: 'asset:<tenant>/<sha256>.<ext>' })

const section = (props: Record<string, TSchema>) => Type.Object(props)

export const SECTIONS: Readonly<Record<string, TSchema>> = {
  announcement: section({ text: Text, href: Type.Optional(Text) }),
  hero: section({
    heading: Text,
    subheading: Type.Optional(Text),
    imageRef: Type.Optional(AssetRef),
    cta: Type.Optional(Link),
  }),
  'product-grid': section({
    heading: Type.Optional(Text),
    collection: Type.Optional(Text),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
    columns: Type.Optional(Type.Integer({ minimum: 1, maximum: 6 })),
  }),
  'featured-product': section({ slug: Text, heading: Type.Optional(Text) }),
  'collection-list': section({
    heading: Type.Optional(Text),
    collections: Type.Optional(Type.Array(Text)),
  }),
  'rich-text': section({ heading: Type.Optional(Text), body: Text }),
  image: section({ imageRef: AssetRef, alt: Type.Optional(Text), href: Type.Optional(Text) }),
  gallery: section({
    images: Type.Array(Type.Object({ imageRef: AssetRef, alt: Type.Optional(Text) })),
  }),
  video: section({ url: Text, caption: Type.Optional(Text) }),
  faq: section({
    heading: Type.Optional(Text),
    items: Type.Array(Type.Object({ question: Text, answer: Text })),
  }),
  newsletter: section({ heading: Text, body: Type.Optional(Text), button: Type.Optional(Text) }),
  testimonials: section({
    heading: Type.Optional(Text),
    items: Type.Array(Type.Object({ quote: Text, author: Type.Optional(Text) })),
  }),
  contact: section({ heading: Type.Optional(Text), email: Type.Optional(Text) }),
  spacer: section({ size: Type.Optional(Type.Enum(['small', 'medium', 'large'])) }),
  footer: section({
    text: Type.Optional(Text),
    links: Type.Optional(Type.Array(Link)),
  }),
}
