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
    subscription_upcoming: {
      subject: ({ item, store }) => `Su próxima entrega de ${item} – ${store}`,
      heading: 'Su suscripción se renueva pronto',
      intro: ({ item, date, amount }) =>
        `Su suscripción a ${item} se renueva el ${date}. Ese día cobraremos ${amount} en su tarjeta. Hasta entonces puede cambiarla, saltarla o terminarla.`,
    },
    subscription_price_changed: {
      subject: ({ store }) => `Cambia el precio de su suscripción – ${store}`,
      heading: 'Cambia el precio de su suscripción',
      intro: ({ item, date, amount }) =>
        `Su suscripción a ${item} se renueva el ${date}. Su precio ha cambiado: ese día cobraremos ${amount} en su tarjeta. Si no está de acuerdo, puede terminarla antes.`,
    },
    subscription_payment_failed: {
      subject: ({ item, store }) => `No hemos podido cobrar ${item} en su tarjeta – ${store}`,
      heading: 'Su pago no se ha realizado',
      intro: ({ item, date }) =>
        date === ''
          ? `No hemos podido cobrar su suscripción a ${item} en su tarjeta y no volveremos a intentarlo con ella. Indique otra tarjeta para continuar.`
          : `No hemos podido cobrar su suscripción a ${item} en su tarjeta. Lo intentaremos de nuevo el ${date}. Antes puede indicar otra tarjeta.`,
    },
    subscription_last_attempt: {
      subject: ({ item, store }) => `Último intento de cobrar ${item} en su tarjeta – ${store}`,
      heading: 'Lo intentamos por última vez',
      intro: ({ item, date }) =>
        `De nuevo no hemos podido cobrar su suscripción a ${item} en su tarjeta. Lo intentaremos por última vez el ${date}. Indique otra tarjeta para que su suscripción continúe.`,
    },
    subscription_recovered: {
      subject: ({ item, store }) => `Hemos recibido su pago de ${item} – ${store}`,
      heading: 'Hemos recibido su pago',
      intro: ({ item }) => `Gracias: su suscripción a ${item} continúa como antes.`,
    },
    subscription_paused: {
      subject: ({ item, store }) => `Su suscripción a ${item} está en pausa – ${store}`,
      heading: 'Su suscripción está en pausa',
      intro: ({ item }) =>
        `Su suscripción a ${item} está en pausa. No se le cobrará nada hasta que continúe.`,
    },
    subscription_cancelled: {
      subject: ({ item, store }) => `Su suscripción a ${item} ha terminado – ${store}`,
      heading: 'Su suscripción ha terminado',
      intro: ({ item }) =>
        `Su suscripción a ${item} ha terminado. No se le cobrará nada más por ella.`,
    },
    subscription_card_expiring: {
      subject: ({ store }) => `Su tarjeta caduca pronto – ${store}`,
      heading: 'Su tarjeta caduca pronto',
      intro: ({ item, date }) =>
        `La tarjeta de su suscripción a ${item} sirve hasta el ${date}. Indique otra antes, para que su suscripción continúe.`,
    },
    payment_request: {
      subject: ({ order, amount, store }) =>
        `Le pedimos que pague ${amount} del pedido ${order} – ${store}`,
      heading: 'Falta un pago',
      intro: ({ order, amount }) =>
        `Sus nuevos artículos del pedido ${order} están reservados. Su devolución no los cubre del todo: pague los ${amount} restantes. Hasta entonces no se le cobrará nada.`,
    },
  },
  giftCardsIntro:
    'Hemos recibido su pedido y su pago. La tarjeta regalo llega por correo electrónico: enseguida, o el día que usted haya elegido.',
  correctionIntro: ({ order, amount }) =>
    `Su pedido ${order} va ahora a otra dirección, donde cuesta ${amount} más. Pague ese importe y el pedido saldrá. Hasta entonces no se le cobrará nada.`,
  alreadyPaid: 'Ya pagado',
  orderNumber: (order) => `Pedido ${order}`,
  viewOrder: 'Ver su pedido',
  visitStore: 'Ir a la tienda',
  payNow: 'Pagar ahora',
  trackParcel: 'Seguir el paquete',
  printLabel: 'Imprimir la etiqueta',
  orderSummary: 'Su pedido',
  inThisParcel: 'En este paquete',
  returnedItems: 'Artículos de esta devolución',
  moreToCome: 'El resto de su pedido llegará en otro paquete. Le escribiremos entonces.',
  subscribed: ({ item, date }) =>
    `Se ha suscrito a ${item}.${date === '' ? '' : ` El próximo envío se cobra el ${date}.`}`,
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
  fromReturn: 'Pagado con su devolución',
  toPay: 'Por pagar',
  payUntil: (date) => `Pague antes del ${date}. Después se cancelará el pedido.`,
  shipsTo: 'Dirección de envío',
  paidWith: 'Pagado con',
  carrier: 'Transportista',
  trackingNumber: 'Número de seguimiento',
  manageSubscription: 'Abrir su suscripción',
  updateCard: 'Indicar otra tarjeta',
  subscription: 'Suscripción',
  amount: 'Importe',
  card: 'Tarjeta',
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
  subscriptionLinkNote: (days) =>
    `El enlace a su suscripción es válido durante ${days} días. Quien lo tenga puede cambiar la suscripción: no lo comparta.`,
  questions: (email) => `¿Preguntas? Responda a este correo o escriba a ${email}.`,
  why: (store) => `Recibe este correo porque ha hecho un pedido en ${store}.`,
  whyGiftCard: (store) =>
    `Recibe este correo porque se ha emitido una tarjeta regalo de ${store} para esta dirección.`,
  whySubscription: (store) => `Recibe este correo porque tiene una suscripción en ${store}.`,
}
