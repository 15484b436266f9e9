package io.carillon.internal.api;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.Wakeup;
import io.carillon.internal.store.run.RunAdmin;
import io.carillon.internal.value.DatabaseClock;
import io.carillon.internal.value.WallClock;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.spi.ExecuteResult;
import io.carillon.spi.MessageQueue;
import io.carillon.spi.MessageResult;
import io.carillon.spi.WakeTransport.Message;
import io.carillon.spi.WakeTransport.RunRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends messages that name runs, and executes the runs of such messages. A message is a hint: the claim decides whether
 * the run is executed, so a lost, repeated or old message changes nothing but the time.
 */
public final class RunMessenger {
    private static final Logger log = LoggerFactory.getLogger(RunMessenger.class);

    private static final int MAX_BATCH = 1_000;

    /** When to ask again for a run that waits for something without a time, or that another process executes. */
    private static final Duration AGAIN = Duration.ofSeconds(30);

    private final Wakeup wakeup;
    private final Wakeup.RunMessages settings;
    private final RunAdmin runs;
    private final DatabaseClock clock;

    private RunMessenger(Wakeup wakeup, Wakeup.RunMessages settings, RunAdmin runs, DatabaseClock clock) {
        this.wakeup = wakeup;
        this.settings = settings;
        this.runs = runs;
        this.clock = clock;
    }

    /** Returns the messenger of this wake-up; empty if its messages name no runs. */
    public static Optional<RunMessenger> of(Wakeup wakeup, RunAdmin runs, DatabaseClock clock) {
        Wakeup.RunMessages settings = wakeup.runMessages();
        return settings == null ? Optional.empty() : Optional.of(new RunMessenger(wakeup, settings, runs, clock));
    }

    /** Sends a message for the next attempt of a run. Returns false if the transport cannot delay it for so long. */
    public boolean send(String project, String queue, RunId run, int attempt, Duration delay) {
        Instant now = now();
        RunRequest unsealed = new RunRequest(run, attempt, now, "");
        String until = Long.toString(now.plus(delay).plus(settings.valid()).toEpochMilli());
        String sealed = settings.keys().seal(until.getBytes(UTF_8), context(project, queue, unsealed));
        Message message = new Message(project, queue, new RunRequest(run, attempt, now, sealed));
        return requireNonNull(wakeup.transport()).trySend(message, delay);
    }

    /** Sends a message for a workflow that may go on now. */
    public void sendFor(String project, RunId id) {
        runs.get(project, id).ifPresent(run -> send(project, run.queue(), id, run.attempt() + 1, Duration.ZERO));
    }

    /** Executes the runs of messages, and returns what to do with each message. */
    public List<MessageResult> consume(List<String> messages, BiFunction<String, RunId, ExecuteResult> execute) {
        return messages.stream().map(text -> consume(text, execute)).toList();
    }

    /** Takes a batch of messages, executes their runs, and answers each. Returns the number of messages. */
    public int consume(
            MessageQueue queue, int maxBatch, Duration wait, BiFunction<String, RunId, ExecuteResult> execute)
            throws InterruptedException {
        if (maxBatch < 1 || maxBatch > MAX_BATCH || wait.isNegative())
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "maxBatch must be between 1 and %d, and wait must not be negative (was %d and %s)."
                            .formatted(MAX_BATCH, maxBatch, wait));
        List<MessageQueue.Received> batch = queue.take(maxBatch, wait);
        for (MessageQueue.Received message : batch) {
            MessageResult result = consume(message.text(), execute);
            if (result instanceof MessageResult.Retry retry) message.retry(retry.delay());
            else if (result instanceof MessageResult.GiveUp giveUp) message.giveUp(giveUp.reason());
            else message.acknowledge();
        }
        return batch.size();
    }

    private MessageResult consume(String text, BiFunction<String, RunId, ExecuteResult> execute) {
        Message message;
        try {
            message = Message.parse(text);
        } catch (CarillonException malformed) {
            return new MessageResult.GiveUp("The text is no wake-up message.");
        }
        RunRequest request = message.run();
        if (request == null) return new MessageResult.GiveUp("The message names no run; it is for nodes.");
        String refusal = refusal(message, request);
        if (refusal != null) {
            log.warn("message refused; its authorization is not valid run={}", request.run());
            return new MessageResult.GiveUp(refusal);
        }
        try {
            Optional<Run> before = runs.get(message.project(), request.run());
            if (before.isPresent() && before.get().attempt() > request.attempt())
                return new MessageResult.Acknowledge();
            return result(message, execute.apply(message.project(), request.run()));
        } catch (CarillonException failure) {
            if (failure.code() == ErrorCode.ALREADY_CLOSED) throw failure;
            log.warn("could not execute the run of a message; asks for it again run={}", request.run(), failure);
            return retry(AGAIN);
        }
    }

    /** Returns why the authorization of a message is not valid; null if it is. */
    private @Nullable String refusal(Message message, RunRequest request) {
        Optional<byte[]> until =
                settings.keys().open(request.authorization(), context(message.project(), message.queue(), request));
        if (until.isEmpty()) return "The authorization was not made for this message with one of these keys.";
        return Long.parseLong(new String(until.get(), UTF_8)) < now().toEpochMilli()
                ? "The authorization has expired."
                : null;
    }

    /** The authorization is bound to all other parts of the message. */
    private static String context(String project, String queue, RunRequest request) {
        return String.join(
                "|",
                "carillon.message",
                project,
                queue,
                request.run().toString(),
                Integer.toString(request.attempt()),
                request.sentAt().toString());
    }

    private MessageResult result(Message message, ExecuteResult result) {
        if (result instanceof ExecuteResult.Executed executed) return next(message, executed.run());
        if (result instanceof ExecuteResult.NotDue notDue) return retry(until(notDue.readyAt()));
        if (result instanceof ExecuteResult.NotReady || result instanceof ExecuteResult.Running) return retry(AGAIN);
        return result instanceof ExecuteResult.Unknown
                ? new MessageResult.GiveUp("The project has no such run.")
                : new MessageResult.Acknowledge();
    }

    /** Sends the message for the next attempt, or lets this one come again if its delay is too long. */
    private MessageResult next(Message message, Run run) {
        if (run.instants().endedAt() != null) return new MessageResult.Acknowledge();
        Instant readyAt = run.instants().readyAt();
        Duration delay = readyAt == null || run.state() != RunState.WAITING ? AGAIN : until(readyAt);
        return send(message.project(), run.queue(), run.id(), run.attempt() + 1, delay)
                ? new MessageResult.Acknowledge()
                : retry(delay);
    }

    private MessageResult retry(Duration delay) {
        Duration longest = requireNonNull(wakeup.transport()).longestDelay();
        boolean tooLong = !longest.isZero() && delay.compareTo(longest) > 0;
        return new MessageResult.Retry(tooLong ? longest : delay);
    }

    /** Returns the time until then in whole seconds, rounded up: a message that comes early comes twice. */
    private Duration until(Instant readyAt) {
        Duration left = Duration.between(clock.now(), readyAt);
        return left.isNegative()
                ? Duration.ZERO
                : Duration.ofSeconds(left.plusNanos(999_999_999).toSeconds());
    }

    private static Instant now() {
        return Instant.ofEpochMilli(WallClock.millis());
    }
}
