import { shippingPrice } from '../../manifest/shipping.ts'
import type { FoundProduct, Product, Variant } from '../api/types.ts'
import { assetUrl } from '../layout/images.ts'
import { measureData } from '../layout/measure-price.ts'
import type { PageContext } from '../request-context.ts'
import { decimalAmount } from '../translations/locale.ts'

/** Objects of schema.org, for search engines. They state only facts that the store has stated. */

/** A product with its offers. */
export function productData(context: PageContext, product: Product): unknown {
  const { site, origin } = context
  const url = productUrl(context, product)
  const images = product.images.flatMap(({ asset_ref }) => {
    const source = assetUrl(context, asset_ref)
    if (source === null) return []
    return [`${source.startsWith('/') ? origin : ''}${source}?w=1280`]
  })
  return {
    '@context': 'https://schema.org',
    '@type': 'Product',
    productID: product.id,
    name: product.name,
    url,
    ...(product.description === null ? {} : { description: product.description }),
    ...(images.length === 0 ? {} : { image: images }),
    ...(product.variants[0] === undefined ? {} : { sku: product.variants[0].sku }),
    brand: { '@type': 'Brand', name: site.brand.name },
    ...offersData(context, product),
  }
}

const productUrl = ({ origin }: PageContext, { slug }: Product) =>
  `${origin}/products/${encodeURIComponent(slug)}`

/** One offer, or all of them below one that has the range of their prices. */
function offersData(context: PageContext, product: Product): object {
  const [first, ...others] = product.variants
  if (first === undefined) return {}
  const url = productUrl(context, product)
  if (others.length === 0) {
    return { offers: { ...offerData(context, first, url), ...shippingData(context, first) } }
  }
  const offers = product.variants.map((each) =>
    offerData(context, each, `${url}?variant=${each.id}`),
  )
  // A price range has one currency. A store has one, too, but some variants may have an older one.
  if (others.some(({ currency }) => currency !== first.currency)) return { offers }
  const prices = product.variants.map(({ price_cents }) => price_cents)
  const lowest = { ...first, price_cents: Math.min(...prices) }
  return {
    offers: {
      '@type': 'AggregateOffer',
      url,
      lowPrice: decimalAmount(lowest.price_cents, first.currency),
      highPrice: decimalAmount(Math.max(...prices), first.currency),
      priceCurrency: first.currency,
      offerCount: product.variants.length,
      availability: availabilityOf(product.available),
      ...shippingData(context, lowest),
      offers,
    },
  }
}

const availabilityOf = (available: boolean) =>
  `https://schema.org/${available ? 'InStock' : 'OutOfStock'}`

function offerData({ site }: PageContext, variant: Variant, url: string): object {
  const { sku, label, price_cents, currency, available } = variant
  const price = decimalAmount(price_cents, currency)
  return {
    '@type': 'Offer',
    url,
    sku,
    ...(label === null ? {} : { name: label }),
    price,
    priceCurrency: currency,
    ...measureData(variant, price),
    availability: availabilityOf(available),
    itemCondition: 'https://schema.org/NewCondition',
    seller: { '@type': 'Organization', name: site.brand.name },
  }
}

/** The price of shipping for one unit, if the store has a rate and names its countries. */
function shippingData({ site }: PageContext, { price_cents, currency }: Variant): object {
  const { shipping } = site.policies
  if (shipping === null || site.countries === null) return {}
  const cents = shippingPrice(shipping, { goods_cents: price_cents, expedited: false })
  return {
    shippingDetails: {
      '@type': 'OfferShippingDetails',
      shippingRate: {
        '@type': 'MonetaryAmount',
        value: decimalAmount(cents, currency),
        currency,
      },
      shippingDestination: { '@type': 'DefinedRegion', addressCountry: site.countries },
    },
  }
}

/** The way to a product: through its first collection, or through the list of all products. */
export function productTrail(context: PageContext, { product, collections }: FoundProduct) {
  const { texts } = context.site.locale
  const [first] = collections
  return [
    { name: texts.home, path: '/' },
    first === undefined
      ? { name: texts.all, path: '/products' }
      : { name: first.title, path: `/collections/${first.slug}` },
    { name: product.name, path: `/products/${product.slug}` },
  ]
}

export const breadcrumbData = (context: PageContext, found: FoundProduct): unknown => ({
  '@context': 'https://schema.org',
  '@type': 'BreadcrumbList',
  itemListElement: productTrail(context, found).map(({ name, path }, at) => ({
    '@type': 'ListItem',
    position: at + 1,
    name,
    item: new URL(path, context.origin).href,
  })),
})

/** The store: an organization that sells online. */
export function storeData(context: PageContext): unknown {
  const { site, origin } = context
  const logo = assetUrl(context, site.brand.logoRef)
  return {
    '@context': 'https://schema.org',
    '@type': 'OnlineStore',
    name: site.brand.name,
    url: `${origin}/`,
    ...(site.seo.description === null ? {} : { description: site.seo.description }),
    ...(logo === null ? {} : { logo: `${logo.startsWith('/') ? origin : ''}${logo}` }),
    ...(site.email === null ? {} : { email: site.email }),
    ...returnData(context),
  }
}

/** The store's own rule for returns, if it has one and names its countries. */
function returnData({ site }: PageContext): object {
  const { returnDays, countries } = site
  if (returnDays === null || countries === null) return {}
  const category = returnDays === 0 ? 'NotPermitted' : 'FiniteReturnWindow'
  return {
    hasMerchantReturnPolicy: {
      '@type': 'MerchantReturnPolicy',
      applicableCountry: countries,
      returnPolicyCategory: `https://schema.org/MerchantReturn${category}`,
      ...(returnDays === 0 ? {} : { merchantReturnDays: returnDays }),
    },
  }
}
