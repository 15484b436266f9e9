package io.carillon.server.api;

import io.carillon.seal.Secret;
import io.carillon.server.hooks.Vault;
import io.carillon.server.http.Answer;
import io.carillon.server.http.Call;
import io.carillon.server.http.Doc;
import io.carillon.server.http.Fields;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.server.http.Route;
import io.carillon.server.store.ApiKey;
import io.carillon.server.store.SecretRepository;
import io.carillon.value.Names;
import io.carillon.webhook.sign.SigningSecret;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** The secrets that webhooks of the caller's project name. One is shown in the answer that made it, and never again. */
final class SecretRoutes {
    private static final Duration LONGEST_OVERLAP = Duration.ofDays(30);
    private static final String SIGNING = "whsec_";
    /** What a header may hold. */
    private static final Pattern VALUE = Pattern.compile("[\\x21-\\x7E](?:[\\x20-\\x7E]{0,1998}[\\x21-\\x7E])?");

    private final Deeds deeds;
    private final Vault vault;

    SecretRoutes(Deeds deeds) {
        this.deeds = deeds;
        this.vault = deeds.house().webhooks().vault();
    }

    List<Route> routes() {
        return List.of(
                Route.get("/v1/secrets", Permission.READ, this::list).with("limit", "cursor"),
                Route.post("/v1/secrets", Permission.ADMIN, this::make),
                Route.post("/v1/secrets:re-encrypt", Permission.ADMIN, this::reEncrypt),
                Route.get("/v1/secrets/{name}", Permission.READ, this::get),
                Route.delete("/v1/secrets/{name}", Permission.ADMIN, this::delete),
                Route.post("/v1/secrets/{name}/rotate", Permission.ADMIN, this::rotate));
    }

    private Answer list(Call call) {
        int limit = call.limit();
        String after = deeds.cursor(call).orElse("");
        List<SecretRepository.Kept> found = deeds.read(
                call,
                desk -> vault.table().list(desk.connection(), desk.project().name(), after, limit + 1));
        return deeds.page(call, found, limit, Shapes::secret, SecretRepository.Kept::name);
    }

    private Answer get(Call call) {
        return Answer.ok(Shapes.secret(deeds.read(call, desk -> there(desk, call.name("name")))));
    }

    private SecretRepository.Kept there(Deeds.Desk desk, String name) throws SQLException {
        return vault.table()
                .get(desk.connection(), desk.project().name(), name)
                .orElseThrow(() -> Problem.missing("secret"));
    }

    /** A secret that is about to be stored; shown only if it was made here. */
    private record Fresh(Secret value, boolean signing, boolean made) {
        /** Of somebody else, or a new one to sign with. */
        static Fresh of(Fields body) {
            Optional<String> given = body.text("value");
            if (given.isEmpty())
                return new Fresh(Secret.of(SigningSecret.generate().reveal()), true, true);
            String value = given.get();
            boolean signing = value.startsWith(SIGNING);
            if (signing) body.making("value", () -> SigningSecret.parse(value));
            else if (!VALUE.matcher(value).matches())
                throw Problem.invalid("/value", "Use 1 to 2000 printable ASCII characters, as a header may hold.");
            return new Fresh(Secret.of(value), signing, false);
        }
    }

    private Answer make(Call call) {
        Deeds.refuseReplay(call);
        Fields body = call.fields();
        String given = body.required("name", body.text("name"));
        String name = body.making("name", () -> Names.check("secret", given));
        Fresh fresh = Fresh.of(body);
        body.done();
        mustHaveKeys();
        return deeds.change(call, "secret.make", "secret/" + name, desk -> {
            String project = desk.project().name();
            SecretRepository.Kept kept = new SecretRepository.Kept(
                    project,
                    name,
                    fresh.signing(),
                    vault.seal(project, name, fresh.value()),
                    null,
                    null,
                    new ApiKey.Made(Instant.EPOCH, call.caller().actor()),
                    null);
            if (!vault.table().insert(desk.connection(), kept))
                throw Problem.of(
                        409, "secret-exists", "There is a secret of this name. Rotate it, or take another name.");
            return shown(desk, name, fresh);
        });
    }

    /** The only answer that shows one. */
    private Answer shown(Deeds.Desk desk, String name, Fresh fresh) throws SQLException {
        Doc doc = Shapes.secret(there(desk, name));
        return Answer.json(201, fresh.made() ? doc.put("value", fresh.value().reveal()) : doc);
    }

    /** Both sign for the time of the overlap, so that receivers change when they like. */
    private Answer rotate(Call call) {
        Deeds.refuseReplay(call);
        Fields body = call.optionalFields();
        Duration overlap = body.duration("overlap").orElse(Duration.ofHours(24));
        Fresh fresh = Fresh.of(body);
        body.done();
        if (overlap.isNegative() || overlap.compareTo(LONGEST_OVERLAP) > 0)
            throw Problem.invalid("/overlap", "Use 0 to 30 days.");
        String name = call.name("name");
        return deeds.change(call, "secret.rotate", "secret/" + name, desk -> {
            SecretRepository.Kept old = there(desk, name);
            mustHaveKeys();
            if (old.signing() != fresh.signing())
                throw Problem.invalid(
                        "/value",
                        old.signing()
                                ? "This secret signs: leave the value out, or give one that starts with whsec_."
                                : "This secret is a value: give the new one.");
            String sealed = vault.seal(old.project(), name, fresh.value());
            vault.table().rotate(desk.connection(), old.project(), name, sealed, overlap.toMillis() / 1000.0);
            desk.note("overlap", overlap.toString());
            return shown(desk, name, fresh);
        });
    }

    private Answer delete(Call call) {
        String name = call.name("name");
        return deeds.change(call, "secret.delete", "secret/" + name, desk -> {
            if (!vault.table().delete(desk.connection(), desk.project().name(), name)) throw Problem.missing("secret");
            return Answer.none();
        });
    }

    /** Some thousand at a time, each for itself; whoever wants all asks until there is no next. */
    private Answer reEncrypt(Call call) {
        call.caller().mustKeepHouse();
        Fields body = call.optionalFields();
        String after = body.text("after").orElse("");
        body.done();
        mustHaveKeys();
        Vault.Resealed resealed = vault.reseal(after);
        return deeds.change(call, "secret.re-encrypt", "secrets", desk -> {
            desk.note("done", Integer.toString(resealed.done()));
            return Answer.ok(new Doc()
                    .put("done", resealed.done())
                    .put("unreadable", resealed.unreadable())
                    .put("next", resealed.next()));
        });
    }

    private void mustHaveKeys() {
        if (!vault.isOpen())
            throw Problem.of(
                    409,
                    "no-master-key",
                    "This server has no master key to seal secrets with. Set CARILLON_MASTER_KEYS_FILE and start it again.");
    }
}
