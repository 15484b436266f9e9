package io.carillon.server.api;

import io.carillon.Project;
import io.carillon.server.http.Answer;
import io.carillon.server.http.Call;
import io.carillon.server.http.Doc;
import io.carillon.server.http.Json;
import io.carillon.server.http.Problem;
import io.carillon.server.store.AnswerRepository;
import io.carillon.server.store.AuditRepository;
import io.carillon.value.CarillonException;
import io.carillon.value.Names;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Does what callers ask for, each request in one transaction of their project: the effect, its line in the audit log and, with an Idempotency-Key, the answer
 * commit together or not at all. Nodes are told after the commit.
 */
final class Deeds {
    private static final String LOCK_TIMEOUT = "55P03";

    private final House house;

    Deeds(House house) {
        this.house = house;
    }

    /** The project as the request sees it: in its transaction. */
    record Desk(Project project, Connection connection, ObjectNode detail) {
        /** A detail for the audit log; nothing secret. */
        void note(String name, String value) {
            detail.put(name, value);
        }
    }

    /** What a request does. */
    @FunctionalInterface
    interface Deed<T> {
        T on(Desk desk) throws SQLException;
    }

    /** Reads in one transaction: all of it is of the caller's project. */
    <T> T read(Call call, Deed<T> deed) {
        String project = call.caller().project();
        Project door = house.carillon().project(project);
        return house.transactions()
                .in(
                        project,
                        connection -> deed.on(new Desk(
                                door.in(connection, hint -> {}), connection, JsonNodeFactory.instance.objectNode())));
    }

    /** Changes something: {@code action} and {@code object} are what the audit log says. */
    Answer change(Call call, String action, String object, Deed<Answer> deed) {
        String project = call.caller().project();
        Project door = house.carillon().project(project);
        List<Runnable> hints = new ArrayList<>();
        Answer answer = house.transactions().in(project, connection -> {
            hints.clear();
            return once(call, connection, () -> {
                Desk desk =
                        new Desk(door.in(connection, hints::add), connection, JsonNodeFactory.instance.objectNode());
                Answer done = deed.on(desk);
                audit(call, connection, action, object, desk.detail());
                return done;
            });
        });
        hints.forEach(Runnable::run);
        return answer;
    }

    void audit(Call call, Connection connection, String action, String object, ObjectNode detail) throws SQLException {
        house.tables()
                .audit()
                .write(
                        connection,
                        call.caller().project(),
                        new AuditRepository.Change(
                                call.caller().actor(),
                                action,
                                object,
                                new String(Json.bytes(detail), StandardCharsets.UTF_8),
                                call.requestId()));
    }

    private interface Effect {
        Answer happen() throws SQLException;
    }

    /** With an Idempotency-Key: once, and the same answer again to whoever repeats the request. */
    private Answer once(Call call, Connection connection, Effect effect) throws SQLException {
        Optional<String> given = call.header("Idempotency-Key");
        if (given.isEmpty()) return effect.happen();
        String key = checked(given.get());
        String project = call.caller().project();
        AnswerRepository answers = house.tables().answers();
        byte[] request = hash(call);
        if (!take(answers, connection, project, key, request)) {
            AnswerRepository.Kept kept = answers.get(connection, project, key).orElseThrow(Deeds::inFlight);
            if (!Arrays.equals(kept.request(), request))
                throw Problem.of(
                        422,
                        "idempotency-key-reused",
                        "This Idempotency-Key came with another request before. Take a new key for a new request.");
            return again(kept);
        }
        Answer answer = effect.happen();
        answers.keep(
                connection,
                project,
                key,
                new AnswerRepository.Kept(
                        request,
                        answer.status(),
                        answer.body(),
                        Optional.ofNullable(answer.headers().get("ETag"))));
        return answer;
    }

    /** For requests whose answer must not be kept, because it shows a secret. */
    static void refuseReplay(Call call) {
        if (call.header("Idempotency-Key").isPresent())
            throw Problem.of(400, "invalid-header", "The answer shows a key, which is kept nowhere.")
                    .at("Idempotency-Key", "Leave it out here.");
    }

    private static boolean take(
            AnswerRepository answers, Connection connection, String project, String key, byte[] request)
            throws SQLException {
        try {
            return answers.take(connection, project, key, request);
        } catch (SQLException failure) {
            if (LOCK_TIMEOUT.equals(failure.getSQLState())) throw inFlight();
            throw failure;
        }
    }

    private static Answer again(AnswerRepository.Kept kept) {
        Answer answer = (kept.body().length == 0 ? Answer.none() : Answer.json(kept.status(), kept.body()))
                .header("Idempotency-Replayed", "true");
        return kept.tag().isPresent() ? answer.header("ETag", kept.tag().get()) : answer;
    }

    private static Problem inFlight() {
        return Problem.of(
                        409,
                        "idempotency-key-in-flight",
                        "A request with this Idempotency-Key is being done right now. Ask again in a moment.")
                .header("Retry-After", "1");
    }

    private static String checked(String key) {
        try {
            return Names.checkKey("Idempotency-Key", key);
        } catch (CarillonException wrong) {
            throw Problem.of(400, "invalid-header", "A header is not valid. See errors.")
                    .at("Idempotency-Key", String.valueOf(wrong.getMessage()));
        }
    }

    private static byte[] hash(Call call) {
        try {
            MessageDigest hash = MessageDigest.getInstance("SHA-256");
            hash.update(call.target().getBytes(StandardCharsets.UTF_8));
            hash.update((byte) 0);
            return hash.digest(call.body());
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every Java has SHA-256", impossible);
        }
    }

    /** What a list shows: the items of a page, and where the next one begins if there may be one. */
    <T> Answer page(Call call, List<T> items, int limit, Function<T, Doc> shown, Function<T, String> mark) {
        Doc body = new Doc().put("items", items.stream().limit(limit).map(shown).toList());
        if (items.size() > limit) body.put("next", house.cursors().behind(call, mark.apply(items.get(limit - 1))));
        return Answer.ok(body);
    }

    /** Returns the database's time: the end of lists that name none. */
    Instant now() {
        return house.transactions().now();
    }

    Optional<String> cursor(Call call) {
        return house.cursors().read(call);
    }

    House house() {
        return house;
    }
}
