package io.carillon.cli.config;

import io.carillon.cli.shell.DatabaseUrl;
import io.carillon.cli.shell.SecretFiles;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.UsageException;
import io.carillon.internal.value.SpellingSuggester;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * All settings, each with its source. Options override environment variables, and these override
 * the configuration file.
 */
public final class Settings {
    /** The environment variable that names a configuration file. */
    public static final String FILE_VARIABLE = "CARILLON_CONFIG";

    private static final String VARIABLE_PREFIX = "CARILLON_";
    private static final List<String> OTHER_VARIABLES = List.of(
            FILE_VARIABLE, "CARILLON_HOME", "CARILLON_URL", "CARILLON_KEY", "CARILLON_KEY_FILE", "CARILLON_PROFILE");
    /** The prefix of the test kit's variables. A developer may start a server from a shell in which they are set. */
    private static final String TEST_VARIABLE_PREFIX = VARIABLE_PREFIX + "TEST_";

    /** Kubernetes sets these variables for each service, and a service may be named carillon. */
    private static final Pattern KUBERNETES_VARIABLES =
            Pattern.compile(".*_SERVICE_(HOST|PORT)(_.*)?|.*_PORT(_\\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?");

    /** A value and its source. */
    public record Value(String text, String source) {}

    private final Map<Setting, Value> values;

    private Settings(Map<Setting, Value> values) {
        this.values = values;
    }

    /**
     * Reads all settings.
     *
     * @param flags the options that were given
     * @param file the configuration file, null if none was given as an option
     */
    public static Settings read(Shell shell, Map<Setting, String> flags, @Nullable String file) {
        refuseUnknownVariables(shell);
        Optional<String> named = Optional.ofNullable(file).or(() -> shell.variable(FILE_VARIABLE));
        ConfigFile config = named.map(ConfigFile::read).orElseGet(ConfigFile::none);
        Map<Setting, Value> values = new EnumMap<>(Setting.class);
        for (Setting setting : Setting.values())
            value(shell, flags, config, setting).ifPresent(value -> values.put(setting, value));
        return new Settings(values);
    }

    /**
     * Returns the database alone, for commands that need no other setting; empty if none is configured.
     *
     * @param flag the value of the option, null if it was not given
     */
    public static Optional<DatabaseUrl> database(Shell shell, @Nullable String flag) {
        return Optional.ofNullable(flag)
                .or(() -> variable(shell, Setting.DATABASE_URL).map(Value::text))
                .map(DatabaseUrl::parse)
                .or(() -> PgVariables.read(shell));
    }

    private static Optional<Value> value(Shell shell, Map<Setting, String> flags, ConfigFile config, Setting setting) {
        String flag = flags.get(setting);
        if (flag != null)
            return Optional.of(new Value(
                    setting.flagNamesFile() ? SecretFiles.read(setting.flag(), flag) : flag,
                    "option " + setting.flag()));
        Optional<Value> variable = variable(shell, setting);
        if (variable.isPresent()) return variable;
        // The variables of libpq are part of the environment, so they override the file as well.
        if (setting == Setting.DATABASE_URL && PgVariables.read(shell).isPresent())
            return Optional.of(new Value("", "variables PG*"));
        String fileValue = config.values().get(setting);
        if (fileValue != null) return Optional.of(new Value(fileValue, "file " + config.name()));
        return setting.defaultValue().isEmpty()
                ? Optional.empty()
                : Optional.of(new Value(setting.defaultValue(), "default"));
    }

    private static Optional<Value> variable(Shell shell, Setting setting) {
        Optional<String> plain = shell.variable(setting.variable());
        if (!setting.isSecret()) return plain.map(text -> new Value(text, "variable " + setting.variable()));
        String inFile = setting.variable() + "_FILE";
        Optional<String> file = shell.variable(inFile);
        if (plain.isPresent() && file.isPresent())
            throw new UsageException(
                    "Both %s and %s are set. Unset one of them.".formatted(setting.variable(), inFile));
        return plain.map(text -> new Value(text, "variable " + setting.variable()))
                .or(() -> file.map(name -> new Value(SecretFiles.read(inFile, name), "variable " + inFile)));
    }

    /** Rejects unknown variables: a misspelled variable would otherwise have no effect. */
    private static void refuseUnknownVariables(Shell shell) {
        List<String> known = new ArrayList<>(OTHER_VARIABLES);
        for (Setting setting : Setting.values()) {
            known.add(setting.variable());
            if (setting.isSecret()) known.add(setting.variable() + "_FILE");
        }
        shell.environment().keySet().stream()
                .filter(name -> name.startsWith(VARIABLE_PREFIX)
                        && !name.startsWith(TEST_VARIABLE_PREFIX)
                        && !known.contains(name))
                .filter(name -> !KUBERNETES_VARIABLES.matcher(name).matches())
                .sorted()
                .findFirst()
                .ifPresent(name -> {
                    throw new UsageException("Unknown variable %s.%s Unset it, or see docs/configuration.md."
                            .formatted(name, SpellingSuggester.didYouMean(name, known)));
                });
    }

    /** Returns the configured value, or the default; empty if there is neither. */
    public Optional<Value> get(Setting setting) {
        return Optional.ofNullable(values.get(setting));
    }

    /** Returns the value for display, without secrets. */
    public String displayText(Setting setting, Shell shell) {
        if (setting == Setting.DATABASE_URL)
            return get(setting).isPresent() ? database(shell).displayText() + " (user and password hidden)" : "";
        return get(setting)
                .map(value -> setting.isSecret() ? "(hidden)" : value.text())
                .orElse("");
    }

    /** Returns the database. Throws a {@link UsageException} if none is configured. */
    public DatabaseUrl database(Shell shell) {
        Value value = get(Setting.DATABASE_URL).orElseThrow(Settings::noDatabase);
        return value.text().isEmpty()
                ? PgVariables.read(shell).orElseThrow(Settings::noDatabase)
                : DatabaseUrl.parse(value.text());
    }

    /** Returns the exception for a missing database. */
    public static UsageException noDatabase() {
        return new UsageException(
                "No database is configured. Give --database-url, or set DATABASE_URL, DATABASE_URL_FILE, or "
                        + "PGHOST, PGUSER and PGDATABASE.");
    }

    /**
     * Returns the value of a setting that allows only certain words. Throws with the closest word for any other value.
     */
    public String word(Setting setting) {
        Value value = get(setting).orElse(new Value("", "default"));
        List<String> words = setting.allowedWords();
        if (!words.contains(value.text()))
            throw new UsageException("%s must be one of %s (was '%s' from %s).%s"
                    .formatted(
                            setting.key(),
                            String.join(", ", words),
                            value.text(),
                            value.source(),
                            SpellingSuggester.didYouMean(value.text(), words)));
        return value.text();
    }

    /** Returns the value as a whole number; empty if it is not set. */
    public Optional<Integer> number(Setting setting, int least, int most) {
        return get(setting).map(value -> {
            boolean digits = value.text().matches("\\d{1,9}");
            int number = digits ? Integer.parseInt(value.text()) : -1;
            if (number < least || number > most)
                throw invalidValue(setting, value, "a number between %d and %d".formatted(least, most));
            return number;
        });
    }

    /**
     * Returns the exception for an invalid value.
     *
     * @param wanted the allowed values, as a noun phrase
     */
    static UsageException invalidValue(Setting setting, Value value, String wanted) {
        return new UsageException(
                "%s must be %s (was '%s' from %s).".formatted(setting.key(), wanted, value.text(), value.source()));
    }
}
