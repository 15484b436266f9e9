package io.carillon.cli.client;

import io.carillon.cli.shell.DataHome;
import io.carillon.cli.shell.Secrets;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.UsageException;
import io.carillon.value.Nearest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The servers somebody works with, by name, in a file that nobody else can read. One of them may be the one to take unless told otherwise. */
public final class Profiles {
    private static final JsonMapper JSON =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

    /** A server by name. */
    public record Profile(String name, String url, @Nullable String key) {
        @Override
        public String toString() {
            return "Profile[" + name + ", " + url + "]";
        }
    }

    private final Path file;
    private final ObjectNode root;

    private Profiles(Path file, ObjectNode root) {
        this.file = file;
        this.root = root;
    }

    /** Those of this user. */
    public static Profiles of(Shell shell) {
        Path file = DataHome.of(shell).path().resolve("profiles.json");
        if (!Files.exists(file)) return new Profiles(file, JsonNodeFactory.instance.objectNode());
        try {
            Secrets.refuseOpen(file);
            if (JSON.readTree(Files.readString(file)) instanceof ObjectNode root) return new Profiles(file, root);
            throw new UsageException("%s holds no profiles. Delete it, and make them again.".formatted(file));
        } catch (IOException | JacksonException broken) {
            throw new UsageException(
                    "%s cannot be read: %s. Mend or delete it.".formatted(file, broken.getMessage()), broken);
        }
    }

    /** Where they are kept. */
    public Path file() {
        return file;
    }

    /** All names. */
    public List<String> names() {
        return List.copyOf(all().propertyNames());
    }

    private ObjectNode all() {
        return root.get("profiles") instanceof ObjectNode all ? all : root.putObject("profiles");
    }

    /** The one to take unless told otherwise. */
    public Optional<String> current() {
        return Optional.ofNullable(root.get("current"))
                .map(JsonNode::stringValue)
                .filter(all()::has);
    }

    /** A profile that must be there. */
    public Profile get(String name) {
        JsonNode found = all().get(name);
        if (found == null)
            throw new UsageException(
                    "There is no profile '%s'.%s Make it with 'carillon profile set %s --url URL --key-file FILE'."
                            .formatted(name, Nearest.hint(name, names()), name));
        return new Profile(
                name, found.path("url").stringValue(""), found.path("key").stringValue(null));
    }

    /** Makes or changes one; the first becomes the one to take. */
    public void put(Profile profile) {
        ObjectNode node = all().putObject(profile.name()).put("url", profile.url());
        if (profile.key() != null) node.put("key", profile.key());
        if (current().isEmpty()) root.put("current", profile.name());
        write();
    }

    /** This one is taken from now on. */
    public void use(String name) {
        root.put("current", get(name).name());
        write();
    }

    /** Forgets one, its key included. */
    public void delete(String name) {
        all().remove(get(name).name());
        if (current().isEmpty()) root.remove("current");
        write();
    }

    private void write() {
        Secrets.write(file, JSON.writeValueAsString(root) + "\n");
    }
}
