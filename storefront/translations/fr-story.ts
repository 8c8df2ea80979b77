import type { StoryTexts } from './en-story.ts'

export const frStory: StoryTexts = {
  preparing: 'Nous préparons votre commande',
  preparingNext: 'Nous vous écrirons dès son départ.',
  packed: 'Votre commande est emballée',
  packedNext: 'Elle part bientôt. Nous vous écrirons à ce moment-là.',
  partlyShipped: 'Une partie de votre commande est en route',
  partlyShippedNext: 'Le reste suivra. Nous vous écrirons à son départ.',
  shipped: 'Votre commande est en route',
  shippedNext: 'Son arrivée sera indiquée ici.',
  shippedWith: (carrier) => `Elle vous est livrée par ${carrier}.`,
  delivered: 'Votre commande est arrivée',
  deliveredNext: 'Nous espérons qu’elle vous plaît.',
  deliveredUntil: (date) => `Un problème ? Vous pouvez la renvoyer jusqu’au ${date}.`,
  mailed: 'Envoyée par e-mail',
  mailedLater: 'Sera envoyée par e-mail',
  giftCard: (count) =>
    count === 1
      ? 'Votre carte cadeau est en route par e-mail'
      : 'Vos cartes cadeaux sont en route par e-mail',
  giftCardTo: (recipients) => `Destinataire : ${recipients}.`,
  giftCardToYou: 'Le code arrive à votre propre adresse e-mail.',
  giftCardOn: (count, date) =>
    count === 1
      ? `Votre carte cadeau sera envoyée le ${date}`
      : `Vos cartes cadeaux seront envoyées à partir du ${date}`,
  giftCardOnNext: 'Vous n’avez rien à faire jusque-là.',
  refundedNext: (amount) =>
    `${amount} ont été remboursés sur le moyen de paiement d’origine. Cela peut prendre quelques jours.`,
  nothingPaid: 'Rien n’a été débité.',
  refundedOf: (amount, total) => `${amount} remboursés sur ${total}`,
  refundedAll: (amount) => `${amount} remboursés`,
  change: 'Modifier quelque chose',
}
