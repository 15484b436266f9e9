package io.carillon.cli.remote;

import static io.carillon.cli.remote.flags.JsonBody.emptyBody;
import static io.carillon.cli.remote.flags.JsonBody.putIfGiven;

import io.carillon.cli.client.ApiClient;
import io.carillon.cli.remote.flags.AllowedValues;
import io.carillon.cli.remote.flags.ListFlags;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.UsageException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** {@code carillon member}. */
@Command(
        name = "member",
        description = "Add users of the identity provider to the project, change their roles and remove them.",
        synopsisSubcommandLabel = "COMMAND",
        sortOptions = false)
final class MemberCommands extends RemoteCommandGroup {
    private static final String ROLE_DESCRIPTION =
            "Rights in the project: viewer (reads), operator (like the scope manage) or admin.";
    private static final List<String> ROLES = List.of("viewer", "operator", "admin");
    private static final List<String> COLUMNS =
            List.of("id", "name", "email", "role", "subject", "addedAt", "addedBy", "loginAt");

    MemberCommands(Shell shell) {
        super(shell);
    }

    @Command(description = "Add a user to the project, by --subject or --user.", sortOptions = false)
    int add(
            @Option(
                            names = "--subject",
                            paramLabel = "TEXT",
                            description =
                                    "Subject of the user at the identity provider. The user need not have logged in.")
                    @Nullable
                    String subject,
            @Option(
                            names = "--user",
                            paramLabel = "ID",
                            description = "Id of the user, such as usr_…, which the dashboard shows to users.")
                    @Nullable
                    String user,
            @Option(names = "--role", paramLabel = "ROLE", required = true, description = ROLE_DESCRIPTION)
                    String role) {
        if ((subject == null) == (user == null))
            throw new UsageException("Name the user by either --subject or --user.");
        AllowedValues.require("--role", role, ROLES);
        JsonNode member = client().post(
                        "/v1/members",
                        putIfGiven(putIfGiven(emptyBody().put("role", role), "subject", subject), "user", user));
        printer().printResult("Added %s as %s.".formatted(member.path("id").stringValue(""), role), member, "id");
        return ExitCode.OK;
    }

    @Command(description = "List the members of the project.", sortOptions = false)
    int list(@Mixin ListFlags flags) {
        return list(flags, "/v1/members", "id", COLUMNS);
    }

    @Command(description = "Show a member of the project.", sortOptions = false)
    int get(
            @Parameters(paramLabel = "ID") String id,
            @Option(names = "--watch", description = "Print again on each change, until Ctrl-C.") boolean watch) {
        return showItem(watch, "id", "members", id);
    }

    @Command(description = "Change the role of a member. It applies after at most 5 seconds.", sortOptions = false)
    int update(
            @Parameters(paramLabel = "ID") String id,
            @Option(names = "--role", paramLabel = "ROLE", required = true, description = ROLE_DESCRIPTION)
                    String role) {
        AllowedValues.require("--role", role, ROLES);
        JsonNode member = client().put(
                        ApiClient.path("members", id), emptyBody().put("role", role), Map.of())
                .body();
        printer().printResult("Changed the role of %s to %s.".formatted(id, role), member, "id");
        return ExitCode.OK;
    }

    @Command(
            description = "Remove a member from the project. The user loses access after at most 5 seconds; keys that "
                    + "the user created stay.",
            sortOptions = false)
    int remove(@Parameters(paramLabel = "ID") String id) {
        return deleteItem("Removed %s.".formatted(id), "id", id, ApiClient.path("members", id));
    }
}
