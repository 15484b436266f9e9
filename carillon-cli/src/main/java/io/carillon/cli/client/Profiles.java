package io.carillon.cli.client;

import io.carillon.cli.shell.DataDirectory;
import io.carillon.cli.shell.SecretFiles;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.UsageException;
import io.carillon.internal.value.SpellingSuggester;
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

/**
 * The servers of a user, by name, in a file that only this user can read. Commands use the current profile unless the
 * caller chooses another.
 */
public final class Profiles {
    private static final JsonMapper JSON =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

    /**
     * A named server.
     *
     * @param key the API key, null if the profile has none
     */
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

    /** Reads the profiles of this user. */
    public static Profiles of(Shell shell) {
        Path file = DataDirectory.of(shell).path().resolve("profiles.json");
        if (!Files.exists(file)) return new Profiles(file, JsonNodeFactory.instance.objectNode());
        try {
            SecretFiles.refuseReadableByOthers(file);
            if (JSON.readTree(Files.readString(file)) instanceof ObjectNode root) return new Profiles(file, root);
            throw new UsageException(
                    "%s contains no profiles. Delete it and create the profiles again.".formatted(file));
        } catch (IOException | JacksonException broken) {
            throw new UsageException(
                    "%s cannot be read: %s. Repair or delete it.".formatted(file, broken.getMessage()), broken);
        }
    }

    /** Returns the file that stores the profiles. */
    public Path file() {
        return file;
    }

    /** Returns the names of all profiles. */
    public List<String> names() {
        return List.copyOf(all().propertyNames());
    }

    private ObjectNode all() {
        return root.get("profiles") instanceof ObjectNode all ? all : root.putObject("profiles");
    }

    /** Returns the name of the current profile; empty if there is none. */
    public Optional<String> current() {
        return Optional.ofNullable(root.get("current"))
                .map(JsonNode::stringValue)
                .filter(all()::has);
    }

    /** Returns a profile. Throws a {@link UsageException} if it does not exist. */
    public Profile get(String name) {
        JsonNode found = all().get(name);
        if (found == null)
            throw new UsageException(
                    "Profile '%s' does not exist.%s Create it with 'carillon profile set %s --url URL --key-file FILE'."
                            .formatted(name, SpellingSuggester.didYouMean(name, names()), name));
        return new Profile(
                name, found.path("url").stringValue(""), found.path("key").stringValue(null));
    }

    /** Creates or replaces a profile. The first profile becomes the current one. */
    public void put(Profile profile) {
        ObjectNode node = all().putObject(profile.name()).put("url", profile.url());
        if (profile.key() != null) node.put("key", profile.key());
        if (current().isEmpty()) root.put("current", profile.name());
        write();
    }

    /** Makes a profile the current one. */
    public void use(String name) {
        root.put("current", get(name).name());
        write();
    }

    /** Deletes a profile and its key. */
    public void delete(String name) {
        if (!all().has(name))
            throw new UsageException("Profile '%s' does not exist.%s 'carillon profile list' shows those that exist."
                    .formatted(name, SpellingSuggester.didYouMean(name, names())));
        all().remove(name);
        if (current().isEmpty()) root.remove("current");
        write();
    }

    private void write() {
        SecretFiles.write(file, JSON.writeValueAsString(root) + "\n");
    }
}
