package io.carillon.server.api;

import io.carillon.server.access.KeyText;
import io.carillon.server.http.Answer;
import io.carillon.server.http.Call;
import io.carillon.server.http.Doc;
import io.carillon.server.http.Fields;
import io.carillon.server.http.Json;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.server.http.Route;
import io.carillon.server.store.ApiKey;
import io.carillon.server.store.AuditRepository;
import io.carillon.server.store.KeyRepository;
import io.carillon.value.Text;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The keys of the caller's project, and what was done with them and others. */
final class KeyRoutes {
    private static final Set<String> SCOPES = Set.of("read", "enqueue", "manage", "admin");
    private static final Duration LONGEST_OVERLAP = Duration.ofDays(30);

    private final Deeds deeds;
    private final KeyRepository keys;
    private final AuditRepository audit;

    KeyRoutes(Deeds deeds) {
        this.deeds = deeds;
        this.keys = deeds.house().tables().keys();
        this.audit = deeds.house().tables().audit();
    }

    List<Route> routes() {
        return List.of(
                Route.get("/v1/keys", Permission.ADMIN, this::list).with("limit", "cursor"),
                Route.post("/v1/keys", Permission.ADMIN, this::make),
                Route.get("/v1/keys/{id}", Permission.ADMIN, this::get),
                Route.delete("/v1/keys/{id}", Permission.ADMIN, this::revoke),
                Route.post("/v1/keys/{id}/rotate", Permission.ADMIN, this::rotate),
                Route.get("/v1/audit", Permission.ADMIN, this::audit)
                        .with("limit", "cursor", "action", "actor", "object"));
    }

    private Answer list(Call call) {
        int limit = call.limit();
        String after = deeds.cursor(call).orElse("");
        List<ApiKey> found = deeds.read(
                call, desk -> keys.list(desk.connection(), desk.project().name(), after, limit + 1));
        return deeds.page(call, found, limit, Shapes::key, ApiKey::id);
    }

    private Answer get(Call call) {
        return Answer.ok(Shapes.key(deeds.read(call, desk -> there(desk, call.value("id")))));
    }

    private ApiKey there(Deeds.Desk desk, String id) throws SQLException {
        return keys.get(desk.connection(), desk.project().name(), id).orElseThrow(() -> Problem.missing("key"));
    }

    private Answer make(Call call) {
        Deeds.refuseReplay(call);
        Fields body = call.fields();
        String name = body.required("name", body.text("name"));
        List<String> scopes = body.required("scopes", body.texts("scopes"));
        Optional<Instant> expires = body.instant("expiresAt");
        body.done();
        if (name.isEmpty() || name.length() > 100) throw Problem.invalid("/name", "Use 1 to 100 characters.");
        if (scopes.isEmpty() || !SCOPES.containsAll(scopes) || scopes.size() > SCOPES.size())
            throw Problem.invalid("/scopes", "Use at least one of " + new java.util.TreeSet<>(SCOPES) + ".");
        if (expires.isPresent() && expires.get().isAfter(Instant.parse("9999-12-31T23:59:59Z")))
            throw Problem.invalid("/expiresAt", "Use a year up to 9999.");
        return deeds.change(call, "key.make", "key/" + Text.clean(name, 100), desk -> {
            KeyText fresh = KeyText.fresh();
            desk.note("key", fresh.id());
            return made(desk, call, fresh, name, scopes, expires);
        });
    }

    /** The only answer that shows a key. */
    private Answer made(
            Deeds.Desk desk, Call call, KeyText fresh, String name, List<String> scopes, Optional<Instant> expires)
            throws SQLException {
        keys.insert(
                desk.connection(),
                desk.project().name(),
                new KeyRepository.NewKey(
                        fresh.id(), fresh.hash(), name, scopes, call.caller().actor(), expires.orElse(null)));
        return Answer.json(201, Shapes.key(there(desk, fresh.id())).put("key", fresh.text()));
    }

    private Answer revoke(Call call) {
        return deeds.change(call, "key.revoke", "key/" + call.value("id"), desk -> {
            there(desk, call.value("id"));
            keys.revoke(desk.connection(), desk.project().name(), call.value("id"));
            return Answer.none();
        });
    }

    /** A new key of the same kind; the old one goes on for the time of the overlap. */
    private Answer rotate(Call call) {
        Deeds.refuseReplay(call);
        Fields body = call.optionalFields();
        Duration overlap = body.duration("overlap").orElse(Duration.ofHours(24));
        body.done();
        if (overlap.isNegative() || overlap.compareTo(LONGEST_OVERLAP) > 0)
            throw Problem.invalid("/overlap", "Use 0 to 30 days.");
        return deeds.change(call, "key.rotate", "key/" + call.value("id"), desk -> {
            ApiKey old = there(desk, call.value("id"));
            if (!keys.expire(desk.connection(), desk.project().name(), old.id(), overlap.toMillis() / 1000.0))
                throw Problem.of(409, "key-revoked", "This key was revoked: make a new one instead.");
            KeyText fresh = KeyText.fresh();
            desk.note("key", fresh.id());
            return made(desk, call, fresh, old.name(), old.scopes(), Optional.empty());
        });
    }

    private Answer audit(Call call) {
        int limit = call.limit();
        String before = deeds.cursor(call).orElse("");
        AuditRepository.Filter filter = new AuditRepository.Filter(
                call.query("action").orElse(null),
                call.query("actor").orElse(null),
                call.query("object").orElse(null));
        List<AuditRepository.Entry> found = deeds.read(
                call, desk -> audit.list(desk.connection(), desk.project().name(), before, filter, limit + 1));
        return deeds.page(call, found, limit, KeyRoutes::shown, AuditRepository.Entry::id);
    }

    private static Doc shown(AuditRepository.Entry entry) {
        AuditRepository.Change change = entry.change();
        return new Doc()
                .put("id", entry.id())
                .put("at", entry.at())
                .put("actor", change.actor())
                .put("action", change.action())
                .put("object", change.object())
                .put(
                        "detail",
                        Json.stored(change.detail().getBytes(StandardCharsets.UTF_8))
                                .orElse(null))
                .put("requestId", change.request());
    }
}
