import type { Words } from './words-schema.ts'

export const fr: Words = {
  kinds: {
    order_placed: {
      subject: ({ order, store }) => `Commande ${order} confirmée – ${store}`,
      heading: 'Merci pour votre commande',
      intro: () =>
        'Nous avons bien reçu votre commande et votre paiement, et nous la préparons. Nous vous écrirons dès son expédition.',
    },
    order_held: {
      subject: ({ order, store }) => `Nous vérifions la commande ${order} – ${store}`,
      heading: 'Nous vérifions votre paiement',
      intro: () =>
        'Nous avons bien reçu votre commande et vérifions son paiement avant de continuer. Vous n’avez rien à faire : nous vous écrirons dès que ce sera fait.',
    },
    order_shipped: {
      subject: ({ order, store }) => `La commande ${order} est en route – ${store}`,
      heading: 'Votre colis est en route',
      intro: ({ order }) => `Un colis de votre commande ${order} a été remis au transporteur.`,
    },
    order_delivered: {
      subject: ({ order, store }) => `La commande ${order} a été livrée – ${store}`,
      heading: 'Votre colis est arrivé',
      intro: ({ order }) =>
        `Un colis de votre commande ${order} a été livré. Nous espérons qu’il vous plaira.`,
    },
    order_refunded: {
      subject: ({ order, store }) => `Remboursement de la commande ${order} – ${store}`,
      heading: 'Vous avez été remboursé',
      intro: ({ order, amount }) => `Nous avons remboursé ${amount} de votre commande ${order}.`,
    },
    order_cancelled: {
      subject: ({ order, store }) => `La commande ${order} a été annulée – ${store}`,
      heading: 'Votre commande a été annulée',
      intro: ({ order, amount }) =>
        amount === ''
          ? `Votre commande ${order} a été annulée. Rien n’a été débité.`
          : `Votre commande ${order} a été annulée et ${amount} ont été remboursés.`,
    },
    order_edited: {
      subject: ({ order, store }) => `La commande ${order} a été modifiée – ${store}`,
      heading: 'Votre commande a été modifiée',
      intro: ({ order }) => `Voici votre commande ${order} telle qu’elle est maintenant.`,
    },
    gift_card: {
      subject: ({ amount, store }) => `Une carte cadeau de ${amount} – ${store}`,
      heading: 'Une carte cadeau pour vous',
      intro: ({ store, amount }) => `Voici votre carte cadeau de ${amount} pour ${store}.`,
    },
    return_approved: {
      subject: ({ order, store }) => `Votre retour de la commande ${order} – ${store}`,
      heading: 'Votre retour est accepté',
      intro: ({ order }) => `Vous pouvez renvoyer ces articles de votre commande ${order}.`,
    },
    return_received: {
      subject: ({ order, store }) => `Retour de la commande ${order} reçu – ${store}`,
      heading: 'Votre retour est arrivé',
      intro: ({ order, amount }) =>
        amount === ''
          ? `Nous avons reçu ce que vous avez renvoyé de votre commande ${order}.`
          : `Nous avons reçu ce que vous avez renvoyé de votre commande ${order} et remboursons ${amount}.`,
    },
  },
  orderNumber: (order) => `Commande ${order}`,
  viewOrder: 'Voir votre commande',
  visitStore: 'Aller à la boutique',
  trackParcel: 'Suivre le colis',
  printLabel: 'Imprimer l’étiquette',
  orderSummary: 'Votre commande',
  inThisParcel: 'Dans ce colis',
  returnedItems: 'Articles de ce retour',
  moreToCome: 'Le reste de votre commande arrivera dans un autre colis. Nous vous écrirons alors.',
  subtotal: 'Sous-total',
  discount: 'Remise',
  shipping: 'Livraison',
  free: 'Offerte',
  tax: 'Taxes',
  taxIncluded: (rate) => (rate === null ? 'Dont TVA' : `Dont TVA (${rate})`),
  total: 'Total',
  oldTotal: 'Total précédent',
  charged: 'Débité',
  refunded: 'Remboursé',
  refundedTo: 'Remboursé sur',
  refundDays:
    'Un remboursement sur carte peut mettre quelques jours à apparaître auprès de votre banque.',
  shipsTo: 'Adresse de livraison',
  paidWith: 'Payé avec',
  carrier: 'Transporteur',
  trackingNumber: 'Numéro de suivi',
  instructions: 'Comment le renvoyer',
  giftCardCode: 'Votre code',
  giftCardBalance: 'Solde',
  giftCardUse:
    'Saisissez le code au moment de payer. Toute personne qui l’a peut le dépenser : gardez ce message comme de l’argent liquide.',
  giftCardFor: (name) => `Pour ${name}`,
  giftCardMessage: 'Un message pour vous',
  validUntil: (date) => `Valable jusqu’au ${date}`,
  tenders: { card: 'Carte', gift_card: 'Carte cadeau', store_credit: 'Avoir' },
  endingIn: (name, last4) => `${name} se terminant par ${last4}`,
  linkNote: (days) =>
    `Le lien vers votre commande est valable ${days} jours. Toute personne qui l’a peut voir et modifier la commande : ne le transmettez pas.`,
  questions: (email) => `Des questions ? Répondez à ce message ou écrivez à ${email}.`,
  why: (store) => `Vous recevez ce message parce que vous avez commandé chez ${store}.`,
  whyGiftCard: (store) =>
    `Vous recevez ce message parce qu’une carte cadeau de ${store} a été émise pour cette adresse.`,
}
