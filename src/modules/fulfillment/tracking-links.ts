/**
 * Carriers whose parcels can be followed by a link, as data. `{}` stands for the tracking number. A
 * carrier is recognised by its name however it is spelt: without case, spaces and punctuation.
 */
const CARRIERS: readonly Carrier[] = [
  { name: 'UPS', url: 'https://www.ups.com/track?tracknum={}' },
  { name: 'FedEx', url: 'https://www.fedex.com/fedextrack/?trknbr={}' },
  {
    name: 'USPS',
    url: 'https://tools.usps.com/go/TrackConfirmAction?tLabels={}',
    also: ['United States Postal Service'],
  },
  {
    name: 'DHL',
    url: 'https://www.dhl.com/global-en/home/tracking.html?tracking-id={}',
    also: ['DHL Express'],
  },
  {
    name: 'DHL eCommerce',
    url: 'https://webtrack.dhlecs.com/?trackingnumber={}',
  },
  {
    name: 'Deutsche Post',
    url: 'https://www.dhl.de/de/privatkunden/dhl-sendungsverfolgung.html?piececode={}',
    also: ['DHL Paket', 'DHL Germany'],
  },
  { name: 'DPD', url: 'https://tracking.dpd.de/status/en_US/parcel/{}' },
  { name: 'GLS', url: 'https://gls-group.com/track/{}' },
  {
    name: 'Hermes',
    url: 'https://www.myhermes.de/empfangen/sendungsverfolgung/sendungsinformation#{}',
  },
  { name: 'Evri', url: 'https://www.evri.com/track/parcel/{}', also: ['myHermes UK'] },
  { name: 'Royal Mail', url: 'https://www.royalmail.com/track-your-item#/tracking-results/{}' },
  { name: 'Parcelforce', url: 'https://www.parcelforce.com/track-trace?trackNumber={}' },
  {
    name: 'La Poste',
    url: 'https://www.laposte.fr/outils/suivre-vos-envois?code={}',
    also: ['Colissimo'],
  },
  {
    name: 'Chronopost',
    url: 'https://www.chronopost.fr/tracking-no-cms/suivi-page?listeNumerosLT={}',
  },
  { name: 'Mondial Relay', url: 'https://www.mondialrelay.fr/suivi-de-colis/?numeroExpedition={}' },
  { name: 'PostNL', url: 'https://postnl.nl/tracktrace/?B={}' },
  { name: 'bpost', url: 'https://track.bpost.cloud/btr/web/#/search?itemCode={}' },
  {
    name: 'Correos',
    url: 'https://www.correos.es/es/es/herramientas/localizador/envios/detalle?tracking-number={}',
  },
  { name: 'Poste Italiane', url: 'https://www.poste.it/cerca/index.html#/risultati-spedizioni/{}' },
  { name: 'PostNord', url: 'https://tracking.postnord.com/en/tracking?id={}' },
  {
    name: 'Swiss Post',
    url: 'https://service.post.ch/ekp-web/ui/entry/search/{}',
    also: ['Die Post'],
  },
  {
    name: 'Austrian Post',
    url: 'https://www.post.at/sv/sendungsdetails?snr={}',
    also: ['Österreichische Post'],
  },
  { name: 'InPost', url: 'https://inpost.pl/sledzenie-przesylek?number={}' },
  {
    name: 'Canada Post',
    url: 'https://www.canadapost-postescanada.ca/track-reperage/en#/search?searchFor={}',
  },
  { name: 'Purolator', url: 'https://www.purolator.com/en/shipping/tracker?pin={}' },
  {
    name: 'Australia Post',
    url: 'https://auspost.com.au/mypost/track/details/{}',
    also: ['AusPost'],
  },
  {
    name: 'NZ Post',
    url: 'https://www.nzpost.co.nz/tools/tracking?trackid={}',
    also: ['New Zealand Post'],
  },
  {
    name: 'Japan Post',
    url: 'https://trackings.post.japanpost.jp/services/srv/search/direct?reqCodeNo1={}&locale=en',
  },
]

interface Carrier {
  name: string
  url: string
  also?: readonly string[]
}

const keyOf = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

const URLS: ReadonlyMap<string, string> = new Map(
  CARRIERS.flatMap(({ name, url, also = [] }) =>
    [name, ...also].map((each) => [keyOf(each), url] as const),
  ),
)

/** Returns the address where a parcel can be followed; null where the carrier is not known or has given no number. */
export function trackingUrl(carrier: string | null, tracking_number: string | null): string | null {
  const url = carrier === null ? undefined : URLS.get(keyOf(carrier))
  if (url === undefined || tracking_number === null) return null
  return url.replace('{}', () => encodeURIComponent(tracking_number.replace(/\s+/g, '')))
}
