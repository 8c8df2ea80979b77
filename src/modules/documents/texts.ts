import type { Tender } from '../orders/schema.ts'

/** The fixed texts of documents. The other languages have the same keys: their type is this one's. */
export interface Texts {
  invoice: string
  packingSlip: string
  number: string
  invoiceDate: string
  orderNumber: string
  orderDate: string
  parcel: string
  carrier: string
  trackingNumber: string
  email: string
  shipTo: string
  product: string
  sku: string
  quantity: string
  unitPrice: string
  amount: string
  subtotal: string
  discount: string
  shipping: string
  net: string
  gift_cards: string
  tax: (rate: string | null) => string
  taxInside: (rate: string | null) => string
  total: string
  tenders: Readonly<Record<Tender, string>>
  endingIn: (what: string, last4: string) => string
  paidWith: (what: string) => string
  refundOn: (date: string) => string
  changeOn: (date: string) => string
  paid: string
  units: (count: number) => string
  moreFollows: (units: string) => string
  cancelledOn: (date: string) => string
  test: string
  /** With the numbers in place of `{page}` and `{pages}`. */
  page: string
}

const en: Texts = {
  invoice: 'Invoice',
  packingSlip: 'Packing slip',
  number: 'Number',
  invoiceDate: 'Date',
  orderNumber: 'Order',
  orderDate: 'Ordered on',
  parcel: 'Parcel',
  carrier: 'Carrier',
  trackingNumber: 'Tracking number',
  email: 'E-mail',
  shipTo: 'Ship to',
  product: 'Item',
  sku: 'SKU',
  quantity: 'Quantity',
  unitPrice: 'Unit price',
  amount: 'Amount',
  subtotal: 'Subtotal',
  discount: 'Discount',
  shipping: 'Shipping',
  net: 'Net amount',
  gift_cards: 'Gift cards, not taxed',
  tax: (rate) => (rate === null ? 'Tax' : `Tax ${rate}`),
  taxInside: (rate) => (rate === null ? 'including VAT' : `including ${rate} VAT`),
  total: 'Total',
  tenders: { card: 'Card', gift_card: 'Gift card', store_credit: 'Store credit' },
  endingIn: (what, last4) => `${what} ending in ${last4}`,
  paidWith: (what) => `Paid: ${what}`,
  refundOn: (date) => `Refunded on ${date}`,
  changeOn: (date) => `Returned for a change on ${date}`,
  paid: 'Amount paid',
  units: (count) => (count === 1 ? '1 unit' : `${count} units`),
  moreFollows: (units) => `${units} of this order follow in another parcel.`,
  cancelledOn: (date) => `Cancelled on ${date}`,
  test: 'Test order: not a sale',
  page: 'Page {page} of {pages}',
}

const de: Texts = {
  invoice: 'Rechnung',
  packingSlip: 'Lieferschein',
  number: 'Nummer',
  invoiceDate: 'Datum',
  orderNumber: 'Bestellung',
  orderDate: 'Bestellt am',
  parcel: 'Paket',
  carrier: 'Versand mit',
  trackingNumber: 'Sendungsnummer',
  email: 'E-Mail',
  shipTo: 'Lieferadresse',
  product: 'Artikel',
  sku: 'Artikelnummer',
  quantity: 'Menge',
  unitPrice: 'Einzelpreis',
  amount: 'Betrag',
  subtotal: 'Zwischensumme',
  discount: 'Rabatt',
  shipping: 'Versand',
  net: 'Nettobetrag',
  gift_cards: 'Gutscheine, nicht besteuert',
  tax: (rate) => (rate === null ? 'Steuer' : `Steuer ${rate}`),
  taxInside: (rate) => (rate === null ? 'darin MwSt.' : `darin ${rate} MwSt.`),
  total: 'Gesamtbetrag',
  tenders: { card: 'Karte', gift_card: 'Gutschein', store_credit: 'Guthaben' },
  endingIn: (what, last4) => `${what} mit der Endung ${last4}`,
  paidWith: (what) => `Bezahlt: ${what}`,
  refundOn: (date) => `Erstattet am ${date}`,
  changeOn: (date) => `Zurückgezahlt wegen einer Änderung am ${date}`,
  paid: 'Bezahlter Betrag',
  units: (count) => `${count} Stück`,
  moreFollows: (units) => `${units} dieser Bestellung folgen in einem anderen Paket.`,
  cancelledOn: (date) => `Storniert am ${date}`,
  test: 'Testbestellung: kein Verkauf',
  page: 'Seite {page} von {pages}',
}

const es: Texts = {
  invoice: 'Factura',
  packingSlip: 'Albarán',
  number: 'Número',
  invoiceDate: 'Fecha',
  orderNumber: 'Pedido',
  orderDate: 'Fecha del pedido',
  parcel: 'Paquete',
  carrier: 'Transportista',
  trackingNumber: 'Número de seguimiento',
  email: 'Correo electrónico',
  shipTo: 'Dirección de envío',
  product: 'Artículo',
  sku: 'Referencia',
  quantity: 'Cantidad',
  unitPrice: 'Precio unitario',
  amount: 'Importe',
  subtotal: 'Subtotal',
  discount: 'Descuento',
  shipping: 'Envío',
  net: 'Base imponible',
  gift_cards: 'Tarjetas regalo, sin impuestos',
  tax: (rate) => (rate === null ? 'Impuestos' : `Impuestos ${rate}`),
  taxInside: (rate) => (rate === null ? 'IVA incluido' : `IVA del ${rate} incluido`),
  total: 'Total',
  tenders: { card: 'Tarjeta', gift_card: 'Tarjeta regalo', store_credit: 'Saldo' },
  endingIn: (what, last4) => `${what} terminada en ${last4}`,
  paidWith: (what) => `Pagado: ${what}`,
  refundOn: (date) => `Reembolsado el ${date}`,
  changeOn: (date) => `Devuelto por un cambio el ${date}`,
  paid: 'Importe pagado',
  units: (count) => (count === 1 ? '1 unidad' : `${count} unidades`),
  moreFollows: (units) => `Quedan ${units} de este pedido para otro paquete.`,
  cancelledOn: (date) => `Cancelado el ${date}`,
  test: 'Pedido de prueba: no es una venta',
  page: 'Página {page} de {pages}',
}

const fr: Texts = {
  invoice: 'Facture',
  packingSlip: 'Bon de livraison',
  number: 'Numéro',
  invoiceDate: 'Date',
  orderNumber: 'Commande',
  orderDate: 'Commandé le',
  parcel: 'Colis',
  carrier: 'Transporteur',
  trackingNumber: 'Numéro de suivi',
  email: 'E-mail',
  shipTo: 'Adresse de livraison',
  product: 'Article',
  sku: 'Référence',
  quantity: 'Quantité',
  unitPrice: 'Prix unitaire',
  amount: 'Montant',
  subtotal: 'Sous-total',
  discount: 'Remise',
  shipping: 'Livraison',
  net: 'Montant hors taxes',
  gift_cards: 'Cartes cadeaux, non taxées',
  tax: (rate) => (rate === null ? 'Taxes' : `Taxes ${rate}`),
  taxInside: (rate) => (rate === null ? 'dont TVA' : `dont TVA ${rate}`),
  total: 'Total',
  tenders: { card: 'Carte', gift_card: 'Carte cadeau', store_credit: 'Avoir' },
  endingIn: (what, last4) => `${what} se terminant par ${last4}`,
  paidWith: (what) => `Payé : ${what}`,
  refundOn: (date) => `Remboursé le ${date}`,
  changeOn: (date) => `Rendu pour une modification le ${date}`,
  paid: 'Montant payé',
  units: (count) => (count === 1 ? '1 unité' : `${count} unités`),
  moreFollows: (units) => `Reste à livrer dans un autre colis : ${units} de cette commande.`,
  cancelledOn: (date) => `Annulé le ${date}`,
  test: 'Commande de test : aucune vente',
  page: 'Page {page} sur {pages}',
}

const TEXTS: Readonly<Record<string, Texts>> = { en, de, es, fr }

/** The language of a document's texts: English where there is no translation. */
export function textsFor(language: string): { language: string; texts: Texts } {
  const [primary = ''] = language.toLowerCase().split('-')
  const known = Object.hasOwn(TEXTS, primary) ? primary : 'en'
  return { language: known, texts: TEXTS[known] ?? en }
}
