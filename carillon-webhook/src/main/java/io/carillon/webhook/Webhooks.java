package io.carillon.webhook;

import io.carillon.CarillonBuilder;
import io.carillon.HandlerOptions;
import io.carillon.run.CompletionToken;
import io.carillon.run.HandlerType;
import io.carillon.run.Outcome;
import io.carillon.run.Retry;
import io.carillon.run.RunContext;
import io.carillon.run.RunId;
import io.carillon.seal.Secret;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import io.carillon.webhook.guard.Guard;
import io.carillon.webhook.hosts.HostBook;
import io.carillon.webhook.send.Answer;
import io.carillon.webhook.send.Message;
import io.carillon.webhook.send.Sender;
import io.carillon.webhook.sign.SigningSecret;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls URLs: as the handler of webhook runs, or once by hand. Every call passes the same guard, is signed as Standard Webhooks says, and ends in time. Thread-safe;
 * close it after the Carillon it serves.
 */
public final class Webhooks implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Webhooks.class);
    private static final Duration BREATH = Duration.ofSeconds(1);

    /** The handler's name and payload: enqueue and schedule webhooks with it. */
    public static final HandlerType<WebhookTarget> TYPE = HandlerType.of("webhook", WebhookTarget.class);

    private final SecretSource secrets;
    private final DeliveryListener listener;
    private final Duration longestPause;
    private final Sender sender;
    private final HostBook hosts;

    Webhooks(WebhooksBuilder builder) {
        this.secrets = builder.secrets;
        this.listener = builder.listener;
        this.longestPause = builder.longestPause;
        this.sender = new Sender(new Guard(builder.guard, builder.resolver), builder.tls);
        this.hosts = new HostBook(builder.hosts);
    }

    /** Starts here: public addresses only, no secrets, until said otherwise. */
    public static WebhooksBuilder builder() {
        return new WebhooksBuilder();
    }

    /** Makes the nodes built there execute webhook runs: in the queue {@code webhooks}, twelve attempts over about a day. */
    public CarillonBuilder handleOn(CarillonBuilder carillon) {
        return handleOn(carillon, options -> options);
    }

    /** The same with other options. */
    public CarillonBuilder handleOn(CarillonBuilder carillon, UnaryOperator<HandlerOptions> options) {
        Retry overADay = Retry.exponential(Duration.ofSeconds(5))
                .factor(4)
                .cap(Duration.ofHours(10))
                .attempts(12);
        return carillon.handleReturning(
                TYPE,
                this::deliver,
                defaults -> options.apply(defaults.queue("webhooks")
                        .keepPayload(true)
                        .timeout(Duration.ofMinutes(2))
                        .retry(overADay)));
    }

    private Outcome deliver(WebhookTarget target, RunContext run) throws InterruptedException {
        Envelope envelope = Envelope.of(run);
        CompletionToken token = CompletionToken.next();
        Map<String, String> callback =
                target.callback() == null ? Map.of() : Map.of("carillon-callback-token", token.reveal());
        Delivery delivery = send(envelope, target, callback);
        run.delivery(delivery.text());
        tell(envelope, target, delivery);
        return Judge.outcome(target, delivery, token);
    }

    /** Sends it once, now, as a message of its own: for a test of a webhook. No run is made. */
    public Delivery test(String project, WebhookTarget target) throws InterruptedException {
        return send(Envelope.byHand(project, RunId.next()), target, Map.of());
    }

    /** Sends it once, now, under the id of a run: for a receiver that lost what it was sent. The run is not changed. */
    public Delivery replay(String project, RunId run, WebhookTarget target) throws InterruptedException {
        return send(Envelope.byHand(project, run), target, Map.of());
    }

    private Delivery send(Envelope envelope, WebhookTarget target, Map<String, String> more)
            throws InterruptedException {
        Message message;
        try {
            message = message(envelope, target, more);
        } catch (CarillonException unusable) {
            return Delivery.unsent(Verdict.NOT_SENDABLE, String.valueOf(unusable.getMessage()), null);
        }
        // By project as well: what one project does to a host must not keep another from it.
        HostBook.Entry entry =
                hosts.enter(envelope.project() + " " + target.endpoint().hostAndPort());
        if (entry instanceof HostBook.Entry.Wait wait)
            return Delivery.unsent(Verdict.HELD_BACK, "the host is being left alone", wait.pause());
        HostBook.Entry.Enter entered = (HostBook.Entry.Enter) entry;
        boolean blamed = true;
        Duration slowDown = Duration.ZERO;
        try {
            long start = System.nanoTime();
            Answer answer = sender.send(message);
            long millis = (System.nanoTime() - start) / 1_000_000;
            Delivery delivery = Judge.judge(target, answer, envelope.now(), longestPause, millis);
            blamed = delivery.verdict().blamesTheHost() || delivery.status() >= 500;
            if (delivery.verdict() == Verdict.SLOW_DOWN) slowDown = pauseOf(delivery);
            return delivery;
        } finally {
            entered.leave(blamed, slowDown);
        }
    }

    private static Duration pauseOf(Delivery delivery) {
        Duration pause = delivery.pause();
        return pause == null ? BREATH : pause;
    }

    private Message message(Envelope envelope, WebhookTarget target, Map<String, String> more) {
        byte[] body = target.bytes();
        Map<String, String> headers = new LinkedHashMap<>();
        if (body.length > 0) headers.put("content-type", "application/json");
        headers.putAll(target.headers());
        target.secretHeaders().forEach((header, name) -> {
            String value = secret(envelope.project(), name).get(0).reveal();
            RequestHeaders.checkValue(header, value);
            headers.put(header, value);
        });
        headers.putAll(envelope.headers());
        headers.putAll(more);
        String secret = target.secret();
        if (secret != null) {
            List<SigningSecret> signers = secret(envelope.project(), secret).stream()
                    .map(value -> SigningSecret.parse(value.reveal()))
                    .toList();
            headers.put(
                    "webhook-signature",
                    SigningSecret.signatures(
                            signers, envelope.id(), envelope.now().getEpochSecond(), body));
        }
        WebhookTarget.Timeouts timeouts = target.timeouts();
        return new Message(target.endpoint(), target.method(), headers, body, timeouts.total(), timeouts.connect());
    }

    private List<Secret> secret(String project, String name) {
        List<Secret> found = secrets.find(project, name);
        if (found.isEmpty())
            throw new CarillonException(
                    ErrorCode.UNKNOWN_SECRET,
                    "Project '%s' has no secret named '%s'. Store it, or name another one in the webhook."
                            .formatted(project, name));
        return found;
    }

    private void tell(Envelope envelope, WebhookTarget target, Delivery delivery) {
        try {
            listener.delivered(envelope, target, delivery);
        } catch (RuntimeException broken) {
            log.warn("a listener of deliveries failed run={}", envelope.id(), broken);
        }
    }

    @Override
    public void close() {
        sender.close();
    }
}
