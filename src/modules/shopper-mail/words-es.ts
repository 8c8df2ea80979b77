import type { Words } from './words-schema.ts'

export const es: Words = {
  kinds: {
    order_placed: {
      subject: ({ order, store }) => `Pedido ${order} confirmado – ${store}`,
      heading: 'Gracias por su pedido',
      intro: () =>
        'Hemos recibido su pedido y su pago, y lo estamos preparando. Le escribiremos cuando esté en camino.',
    },
    order_held: {
      subject: ({ order, store }) => `Estamos revisando el pedido ${order} – ${store}`,
      heading: 'Estamos revisando su pago',
      intro: () =>
        'Hemos recibido su pedido y estamos revisando el pago antes de continuar. No tiene que hacer nada: le escribiremos en cuanto terminemos.',
    },
    order_shipped: {
      subject: ({ order, store }) => `El pedido ${order} está en camino – ${store}`,
      heading: 'Su paquete está en camino',
      intro: ({ order }) => `Hemos entregado al transportista un paquete de su pedido ${order}.`,
    },
    order_delivered: {
      subject: ({ order, store }) => `El pedido ${order} ha sido entregado – ${store}`,
      heading: 'Su paquete ha llegado',
      intro: ({ order }) =>
        `Se ha entregado un paquete de su pedido ${order}. Esperamos que lo disfrute.`,
    },
    order_refunded: {
      subject: ({ order, store }) => `Reembolso del pedido ${order} – ${store}`,
      heading: 'Ha recibido un reembolso',
      intro: ({ order, amount }) => `Hemos reembolsado ${amount} de su pedido ${order}.`,
    },
    order_cancelled: {
      subject: ({ order, store }) => `El pedido ${order} ha sido cancelado – ${store}`,
      heading: 'Su pedido ha sido cancelado',
      intro: ({ order, amount }) =>
        amount === ''
          ? `Su pedido ${order} ha sido cancelado. No se le ha cobrado nada.`
          : `Su pedido ${order} ha sido cancelado y se han reembolsado ${amount}.`,
    },
    order_edited: {
      subject: ({ order, store }) => `El pedido ${order} ha cambiado – ${store}`,
      heading: 'Su pedido ha cambiado',
      intro: ({ order }) => `Así queda ahora su pedido ${order}.`,
    },
    gift_card: {
      subject: ({ amount, store }) => `Una tarjeta regalo de ${amount} – ${store}`,
      heading: 'Una tarjeta regalo para usted',
      intro: ({ store, amount }) => `Aquí tiene su tarjeta regalo de ${amount} para ${store}.`,
    },
    return_approved: {
      subject: ({ order, store }) => `Su devolución del pedido ${order} – ${store}`,
      heading: 'Su devolución ha sido aprobada',
      intro: ({ order }) => `Puede devolver estos artículos de su pedido ${order}.`,
    },
    return_received: {
      subject: ({ order, store }) => `Hemos recibido su devolución del pedido ${order} – ${store}`,
      heading: 'Su devolución ha llegado',
      intro: ({ order, amount }) =>
        amount === ''
          ? `Hemos recibido lo que devolvió de su pedido ${order}.`
          : `Hemos recibido lo que devolvió de su pedido ${order} y reembolsamos ${amount}.`,
    },
  },
  orderNumber: (order) => `Pedido ${order}`,
  viewOrder: 'Ver su pedido',
  visitStore: 'Ir a la tienda',
  trackParcel: 'Seguir el paquete',
  printLabel: 'Imprimir la etiqueta',
  orderSummary: 'Su pedido',
  inThisParcel: 'En este paquete',
  returnedItems: 'Artículos de esta devolución',
  moreToCome: 'El resto de su pedido llegará en otro paquete. Le escribiremos entonces.',
  subtotal: 'Subtotal',
  discount: 'Descuento',
  shipping: 'Envío',
  free: 'Gratis',
  tax: 'Impuestos',
  taxIncluded: (rate) => (rate === null ? 'IVA incluido' : `IVA incluido (${rate})`),
  total: 'Total',
  oldTotal: 'Total anterior',
  charged: 'Cobrado',
  refunded: 'Reembolsado',
  refundedTo: 'Reembolsado en',
  refundDays: 'Un reembolso en tarjeta puede tardar unos días en aparecer en su banco.',
  shipsTo: 'Dirección de envío',
  paidWith: 'Pagado con',
  carrier: 'Transportista',
  trackingNumber: 'Número de seguimiento',
  instructions: 'Cómo devolverlo',
  giftCardCode: 'Su código',
  giftCardBalance: 'Saldo',
  giftCardUse:
    'Introduzca el código al pagar. Quien lo tenga puede gastarlo: guarde este correo como si fuera dinero.',
  giftCardFor: (name) => `Para ${name}`,
  giftCardMessage: 'Un mensaje para usted',
  validUntil: (date) => `Válida hasta el ${date}`,
  tenders: { card: 'Tarjeta', gift_card: 'Tarjeta regalo', store_credit: 'Saldo de la tienda' },
  endingIn: (name, last4) => `${name} terminada en ${last4}`,
  linkNote: (days) =>
    `El enlace a su pedido es válido durante ${days} días. Quien lo tenga puede ver y cambiar el pedido: no lo comparta.`,
  questions: (email) => `¿Preguntas? Responda a este correo o escriba a ${email}.`,
  why: (store) => `Recibe este correo porque ha hecho un pedido en ${store}.`,
  whyGiftCard: (store) =>
    `Recibe este correo porque se ha emitido una tarjeta regalo de ${store} para esta dirección.`,
}
